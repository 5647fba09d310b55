"""Self-DC: generate what the model knows, retrieve what it does not, divide what it half knows.

The graph is Figure 3: a confidence c, and by the band (α−β, α+β) one of three ways. A divided question's
parts are answered by the same graph again, all at once, down to depth t; then their answers are combined.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.runnables import Runnable
from langgraph.graph import END, START
from langgraph.types import Send

from knowwhen.graphs.method import Builder, Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.door import Door
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes import combine, decompose, generate_background, read_passages, score_confidence
from knowwhen.nodes.answer_directly import PROMPT as DIRECT_PROMPT
from knowwhen.nodes.retrieve import retrieve
from knowwhen.nodes.settings import ReadingSettings, with_defaults
from knowwhen.nodes.solve import Itself, each_part, solve
from knowwhen.nodes.state import Asked, Question, State
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.thresholds import with_thresholds

PROMPTS = {
    "answer_directly": DIRECT_PROMPT,
    "score_confidence": score_confidence.PROMPT,
    "generate_background": generate_background.PROMPT,
    "read_passages": read_passages.PROMPT,
    "decompose": decompose.PROMPT,
    "combine": combine.PROMPT,
}


class SelfDCSettings(score_confidence.BandSettings, decompose.DecompositionSettings, ReadingSettings):
    """The settings of Self-DC.

    `alpha`, `beta` and `confidence` default to what the paper found best for gpt-3.5-turbo-1106 (section
    6.1); thresholds belong to a model and an estimator, so choose them anew for another one.
    """


def self_dc(
    model: ModelLike = "pocket",
    retriever: RetrieverLike = "almanac",
    *,
    thresholds: str | Path | None = None,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build Self-DC (Self-DC, Figure 3).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        retriever: a retriever, `almanac`, the folder of a built index, `wikipedia`, `tavily` or `google`.
        thresholds: a file that `knowwhen calibrate` wrote for this model, estimator and prompts.
        prompts: the user's own, by name: the keys of `PROMPTS`.
        max_concurrency: model requests in flight at once, over the whole tree and all questions.
        settings: fields of `SelfDCSettings`.

    Raises:
        CapabilityError: `confidence="probability"` and the model reports no log-probabilities.
        SettingsError: a setting or prompt is out of its range, or `thresholds` belong to another model,
            confidence or prompts.
        ModelError: the model cannot be had.
        RetrievalError: the index cannot be had.
    """
    wording = with_prompts(PROMPTS, prompts)
    chat = resolve_model(model)
    given = with_thresholds(thresholds, "self_dc", chat, wording, settings)
    defaults = with_defaults(SelfDCSettings, given)()
    door = KeepingDoor(
        chat,
        resolve_retriever(retriever),
        needs=score_confidence.NEEDS[defaults.confidence],
        asked_by="self_dc's confidence='probability'",
        max_concurrency=max_concurrency,
    )

    # A graph that calls itself is built twice: the one returned shows the one that recurs as its subgraph.
    itself = Itself()
    itself.graph = _wired(door, defaults, wording, itself, Asked).compile(name="self_dc")
    return finished(_wired(door, defaults, wording, itself.graph, Question), "self_dc")


def _wired(
    door: Door,
    defaults: SelfDCSettings,
    wording: Mapping[str, str],
    solver: Runnable[Any, Any],
    input_schema: type,
) -> Builder:
    graph = begin(defaults, input_schema)
    add_first(
        graph,
        "score_confidence",
        score_confidence.score_confidence(
            door, defaults, wording["score_confidence"], wording["answer_directly"]
        ),
    )
    graph.add_node(
        "generate_background",
        generate_background.generate_background(door, defaults, wording["generate_background"]),
    )
    graph.add_node("decompose", decompose.decompose(door, defaults, wording["decompose"]))
    graph.add_node("retrieve", retrieve(door, defaults))
    graph.add_node(
        "read_passages",
        read_passages.read_passages(door, defaults, wording["read_passages"], wording["answer_directly"]),
    )
    graph.add_node("solve", solve(solver))
    graph.add_node("combine", combine.combine(door, defaults, wording["combine"]))
    graph.add_edge(START, "score_confidence")
    graph.add_conditional_edges(
        "score_confidence",
        by_band,
        {"known": "generate_background", "half known": "decompose", "unknown": "retrieve"},
    )
    graph.add_edge("generate_background", "read_passages")
    graph.add_edge("retrieve", "read_passages")
    graph.add_conditional_edges(
        "decompose", each_part_if_divided, {"each part": "solve", "cannot be divided": "retrieve"}
    )
    graph.add_edge("solve", "combine")
    graph.add_edge("read_passages", END)
    graph.add_edge("combine", END)
    return graph


def by_band(state: State) -> Literal["known", "half known", "unknown"]:
    """What the confidence says, by its place above, in or below the band."""
    if state["route"] == "generate":
        return "known"
    return "half known" if state["route"] == "decompose" else "unknown"


def each_part_if_divided(state: State) -> list[Send] | Literal["cannot be divided"]:
    """The parts of a divided question."""
    return "cannot be divided" if state["route"] == "retrieve" else each_part(state)
