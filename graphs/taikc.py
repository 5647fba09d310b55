"""TAIKC: a tree of questions, each answered from certain knowledge or else from passages, then chains.

The graph is Figure 2. Queries that refer to each other make a branch; branches run side by side, and in each
all queries are asked at once whose references are answered, which gives what pre-order gives. A query is a
graph of its own: Confident QA and, if the model asks for it, passages, their reader and Direct QA behind it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from langgraph.graph import END, START
from langgraph.types import Send
from pydantic import Field

from knowwhen.graphs.branch import branch
from knowwhen.graphs.method import Graph, Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.door import Door
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes import (
    confident_qa,
    direct_qa,
    make_tree,
    read_chains,
    read_if_there,
    summarise_chain,
    tree_demonstrations,
)
from knowwhen.nodes.branch import each_branch
from knowwhen.nodes.choose_source import KnowledgeSettings, Source, choose_source
from knowwhen.nodes.demonstrations import demonstrations_for
from knowwhen.nodes.estimate_certainty import estimate_certainty
from knowwhen.nodes.gather_answers import gather_answers
from knowwhen.nodes.gauge import Gauge
from knowwhen.nodes.give_up import give_up
from knowwhen.nodes.queries import QueryState, TreeState, unanswered
from knowwhen.nodes.retrieve import retrieve
from knowwhen.nodes.settings import ReadingSettings, with_defaults
from knowwhen.nodes.sub_questions import AskedSubQuestion, own_question
from knowwhen.nodes.summarise_chain import each_chain
from knowwhen.nodes.tree_demonstrations import TreeDemonstration
from knowwhen.tools.rerank import RerankingRetriever, Scorer, reranked
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.embedding_gram import TextEncoder
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.presets import choose_preset
from knowwhen.uncertainty.thresholds import with_thresholds

PROMPTS = {
    "make_tree": make_tree.PROMPT,
    "confident_qa": confident_qa.PROMPT,
    "read_if_there": read_if_there.PROMPT,
    "direct_qa": direct_qa.PROMPT,
    "summarise_chain": summarise_chain.PROMPT,
    "read_chains": read_chains.PROMPT,
}
CANDIDATES = 50  # passages that are reranked; the paper does not say how many


class TAIKCSettings(
    make_tree.TreeSettings,
    KnowledgeSettings,
    read_if_there.ContinuationSettings,
    summarise_chain.ChainSettings,
    ReadingSettings,
):
    """The settings of TAIKC; their defaults are the paper's (section 5), which is silent on temperatures."""

    passages: int = Field(default=5, ge=1, le=100, description="How many passages are read for a question")


def taikc(
    model: ModelLike = "pocket",
    retriever: RetrieverLike = "almanac",
    *,
    reranker: str | Scorer | None = None,
    demonstrations: str | Path | Sequence[TreeDemonstration] | None = None,
    preset: str | None = None,
    thresholds: str | Path | None = None,
    judge: Judge | None = None,
    encoder: TextEncoder | None = None,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build TAIKC (TAIKC, section 3).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        retriever: a retriever, `almanac`, the folder of a built index, `wikipedia`, `tavily` or `google`.
        reranker: what reorders the first 50 passages found: the folder or hub id of a bi-encoder or
            cross-encoder, or a function that scores passages. The paper's is `intfloat/e5-base-v2` behind
            BM25; None: as found.
        demonstrations: questions with their trees, or a file of them (`nodes/tree_demonstrations.py`); None
            for the package's own, which the pocket model goes without: it has learnt the form.
        preset: for `boundary="estimator"`: the name of a threshold found on another model; it warns.
        thresholds: a file that `knowwhen calibrate` wrote for this model, estimator and prompts; they set
            `boundary` to "estimator".
        judge: for an estimator that compares texts.
        encoder: for `embedding_gram`.
        prompts: the user's own, by name: the keys of `PROMPTS`.
        max_concurrency: model requests in flight at once, over all queries and all questions.
        settings: fields of `TAIKCSettings`.

    Raises:
        CapabilityError: the model does not report what the estimator of the boundary reads.
        SettingsError: a setting or prompt is out of its range, or no threshold is known for the model, or
            `thresholds` belong to another model, estimator or prompts.
        ModelError: the model cannot be had.
        RetrievalError: the index or the reranker cannot be had.
    """
    wording = with_prompts(PROMPTS, prompts)
    chat = resolve_model(model)
    given = with_thresholds(thresholds, "taikc", chat, wording, settings)
    defaults = with_defaults(TAIKCSettings, given)()
    found = resolve_retriever(retriever)
    if isinstance(reranker, str):
        found = reranked(found, reranker, depth=CANDIDATES)
    elif reranker is not None:
        found = RerankingRetriever(retriever=found, scorer=reranker, depth=CANDIDATES)
    door = KeepingDoor(chat, found, asked_by="taikc", max_concurrency=max_concurrency)
    gauge = Gauge(door, defaults, "taikc", judge, encoder, choose_preset(door.model, preset))
    if defaults.knowledge == "both" and defaults.boundary == "estimator":
        gauge.estimator(defaults).require(door.model)
        gauge.threshold(defaults)
    shown = demonstrations_for(door.model, tree_demonstrations.DEFAULT, demonstrations)

    graph = begin(defaults, state=TreeState)
    add_first(
        graph,
        "make_tree",
        make_tree.make_tree(door, defaults, wording["make_tree"], tree_demonstrations.as_text(shown)),
    )
    graph.add_node(
        "answer_branch", branch(door, defaults, _query(door, defaults, gauge, wording), unanswered)
    )
    graph.add_node("gather_answers", gather_answers(door))
    graph.add_node(
        "summarise_chain", summarise_chain.summarise_chain(door, defaults, wording["summarise_chain"])
    )
    graph.add_node("read_chains", read_chains.read_chains(door, defaults, wording["read_chains"]))
    graph.add_node("give_up", give_up(door))
    graph.add_edge(START, "make_tree")
    graph.add_conditional_edges("make_tree", each_branch, {"each branch": "answer_branch"})
    graph.add_edge("answer_branch", "gather_answers")
    graph.add_conditional_edges(
        "gather_answers",
        each_chain_if_answered,
        {"each chain": "summarise_chain", "unanswered": "give_up", "not divided": END},
    )
    graph.add_edge("summarise_chain", "read_chains")
    graph.add_edge("read_chains", END)
    graph.add_edge("give_up", END)
    return finished(graph, "taikc")


def _query(door: Door, defaults: TAIKCSettings, gauge: Gauge, wording: Mapping[str, str]) -> Graph:
    """One query, a graph within the graph: active internal knowledge completion."""
    query = begin(defaults, AskedSubQuestion, QueryState)
    add_first(query, "choose_source", choose_source(door, defaults), AskedSubQuestion)
    query.add_node("confident_qa", confident_qa.confident_qa(door, defaults, wording["confident_qa"]))
    query.add_node("estimate_certainty", estimate_certainty(door, defaults, gauge, wording["direct_qa"]))
    query.add_node("retrieve", retrieve(door, defaults))
    query.add_node("read_if_there", read_if_there.read_if_there(door, defaults, wording["read_if_there"]))
    query.add_node("direct_qa", direct_qa.direct_qa(door, defaults, wording["direct_qa"]))
    query.add_edge(START, "choose_source")
    query.add_conditional_edges(
        "choose_source",
        by_source,
        {
            "Confident QA": "confident_qa",
            "an estimator": "estimate_certainty",
            "internal": "direct_qa",
            "external": "retrieve",
        },
    )
    query.add_conditional_edges("confident_qa", by_certainty, {"certain": END, "RAG_REQUIRED": "retrieve"})
    query.add_conditional_edges("estimate_certainty", by_score, {"certain": END, "uncertain": "retrieve"})
    query.add_edge("retrieve", "read_if_there")
    query.add_conditional_edges("read_if_there", by_what_is_there, {"done": END, "not there": "direct_qa"})
    query.add_edge("direct_qa", END)
    return query.compile(name="answer_question")


def by_source(state: QueryState) -> Source:
    """Where the answer is sought."""
    return cast(Source, state["source"])


def by_certainty(state: QueryState) -> Literal["certain", "RAG_REQUIRED"]:
    """Whether the model answered, or asks for a look-up."""
    return "certain" if state["route"] == "confident" else "RAG_REQUIRED"


def by_score(state: QueryState) -> Literal["certain", "uncertain"]:
    """Whether the answer's score meets the threshold."""
    return "certain" if state["route"] == "confident" else "uncertain"


def by_what_is_there(state: QueryState) -> Literal["done", "not there"]:
    """Whether the model is to go on without passages, as they do not hold the answer."""
    return state["onward"]


def each_chain_if_answered(state: TreeState) -> list[Send] | Literal["unanswered", "not divided"]:
    """The chains, all at once; none if the question was not divided or a query was left without an answer."""
    if own_question(state):
        return "not divided"
    outputs = [state["part_outputs"].get(query["id"]) for query in state["sub_questions"]]
    if any(output is None or unanswered(output) for output in outputs):
        return "unanswered"
    return each_chain(state)
