"""SeaKR: look a step of reasoning up when the model's hidden states disagree about it.

Each step is first thought from memory, k times over; if the states behind the samples spread too far, it is
looked up, thought again with each passage found, and the passage is kept that leaves the model least unsure.
At the end two answers, from the rationales and from the knowledge kept, compete in the same way.
"""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from langgraph.graph import END, START

from knowwhen.graphs.method import Graph, Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.door import Door
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes import answer_from_knowledge, answer_from_rationales, think
from knowwhen.nodes import step_demonstrations as worked
from knowwhen.nodes.begin_reasoning import begin_reasoning
from knowwhen.nodes.choose_answer import choose_answer
from knowwhen.nodes.demonstrations import demonstrations_for
from knowwhen.nodes.gauge import Gauge
from knowwhen.nodes.keep_step import keep_step
from knowwhen.nodes.make_query import make_query
from knowwhen.nodes.reasoning import ReasoningSettings, ReasoningState, Way
from knowwhen.nodes.rerank import rerank
from knowwhen.nodes.retrieve import retrieve
from knowwhen.nodes.settings import with_defaults
from knowwhen.nodes.step_demonstrations import Demonstration
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.embedding_gram import TextEncoder
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.presets import choose_preset
from knowwhen.uncertainty.thresholds import with_thresholds

PROMPTS = {
    **think.PROMPTS,
    "answer_from_rationales": answer_from_rationales.PROMPT,
    "answer_from_knowledge": answer_from_knowledge.PROMPT,
}


WAYS: dict[Hashable, str] = {
    "think on": "reason",
    "from rationales": "answer_from_rationales",
    "from knowledge": "answer_from_knowledge",
    "one answer": "choose_answer",
}


class SeaKRSettings(ReasoningSettings):
    """The settings of SeaKR; their defaults are the paper's (section 4.1, 5.3 and appendix D)."""


def seakr(
    model: ModelLike = "pocket",
    retriever: RetrieverLike = "almanac",
    *,
    preset: str | None = None,
    thresholds: str | Path | None = None,
    demonstrations: str | Path | Sequence[Demonstration] | None = None,
    judge: Judge | None = None,
    encoder: TextEncoder | None = None,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build SeaKR (SeaKR, section 3).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        retriever: a retriever, `almanac`, the folder of a built index, `wikipedia`, `tavily` or `google`.
        preset: the name of a threshold found on another model (`uncertainty.presets`); it warns.
        thresholds: a file that `knowwhen calibrate` wrote for this model, estimator and prompts.
        demonstrations: worked questions, or a file of them (`nodes/step_demonstrations.py`); None for the
            package's own, which the pocket model goes without: it has learnt the form.
        judge: for an estimator that compares texts.
        encoder: for `embedding_gram`.
        prompts: the user's own, by name: the keys of `PROMPTS`.
        max_concurrency: model requests in flight at once, over all questions.
        settings: fields of `SeaKRSettings`.

    Raises:
        CapabilityError: the model does not report what the estimator or the query reads.
        SettingsError: a setting or prompt is out of its range, or no threshold is known for the model, or
            `thresholds` belong to another model, estimator or prompts.
        ModelError: the model cannot be had.
        RetrievalError: the index cannot be had.
    """
    wording = with_prompts(PROMPTS, prompts)
    chat = resolve_model(model)
    given = with_thresholds(thresholds, "seakr", chat, wording, settings)
    defaults = with_defaults(SeaKRSettings, given)()
    door = KeepingDoor(chat, resolve_retriever(retriever), asked_by="seakr", max_concurrency=max_concurrency)
    gauge = Gauge(door, defaults, "seakr", judge, encoder, choose_preset(door.model, preset))
    think.check_gauge(gauge, defaults)
    shown = demonstrations_for(door.model, worked.DEFAULT, demonstrations)
    ask = think.step_prompts(wording, worked.as_text(shown))

    graph = begin(defaults, state=ReasoningState)
    add_first(graph, "begin_reasoning", begin_reasoning(door))
    graph.add_node("reason", _step(door, defaults, gauge, ask))
    graph.add_node(
        "answer_from_rationales",
        answer_from_rationales.answer_from_rationales(
            door, defaults, gauge, wording["answer_from_rationales"]
        ),
    )
    graph.add_node(
        "answer_from_knowledge",
        answer_from_knowledge.answer_from_knowledge(door, defaults, gauge, wording["answer_from_knowledge"]),
    )
    graph.add_node("choose_answer", choose_answer(door, defaults))
    graph.add_edge(START, "begin_reasoning")
    graph.add_edge("begin_reasoning", "reason")
    graph.add_conditional_edges("reason", on, WAYS)
    graph.add_edge("answer_from_rationales", "choose_answer")
    graph.add_edge("answer_from_knowledge", "choose_answer")
    graph.add_edge("choose_answer", END)
    return finished(graph, "seakr")


def _step(door: Door, defaults: SeaKRSettings, gauge: Gauge, ask: think.AskStep) -> Graph:
    """One step of reasoning, a graph within the graph: so the loop takes one superstep a step.

    Through `batch` or as a tool a graph may take 25 supersteps, and a step is up to five.
    """
    graph = begin(defaults, ReasoningState, ReasoningState, ReasoningState)
    graph.add_node("think", think.think(door, defaults, gauge, ask))
    graph.add_node("make_query", make_query(door, defaults))
    graph.add_node("retrieve", retrieve(door, defaults, by="query"))
    graph.add_node("rerank", rerank(door, defaults, gauge, ask))
    graph.add_node("keep_step", keep_step(door, defaults))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", by_threshold, {"sure": "keep_step", "unsure": "make_query"})
    graph.add_conditional_edges("make_query", by_query, {"new": "retrieve", "repeated": "keep_step"})
    graph.add_edge("retrieve", "rerank")
    graph.add_edge("rerank", "keep_step")
    graph.add_edge("keep_step", END)
    return graph.compile(name="reason")


def by_threshold(state: ReasoningState) -> Literal["sure", "unsure"]:
    """Whether the model is sure of the step that it has thought."""
    return "sure" if state["route"] == "confident" else "unsure"


def by_query(state: ReasoningState) -> Literal["new", "repeated"]:
    """Whether there is anything new to look up."""
    return "new" if state["query"] else "repeated"


def on(state: ReasoningState) -> list[Way]:
    """Where the last step leads: to the next one, or to the final answers, side by side."""
    return state["ways"]
