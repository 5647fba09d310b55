"""Retrieve-then-read: look every question up and answer from what is found. Self-DC's end at α = 1, β = 0."""

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START

from knowwhen.graphs.method import Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes.answer_directly import PROMPT as DIRECT_PROMPT
from knowwhen.nodes.read_passages import PROMPT as READING_PROMPT
from knowwhen.nodes.read_passages import read_passages
from knowwhen.nodes.retrieve import retrieve
from knowwhen.nodes.settings import ReadingSettings, with_defaults
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever

PROMPTS = {
    "answer_directly": DIRECT_PROMPT,  # without a passage
    "read_passages": READING_PROMPT,
}


class RetrieveThenReadSettings(ReadingSettings):
    """The settings of retrieve-then-read."""


def retrieve_then_read(
    model: ModelLike = "pocket",
    retriever: RetrieverLike = "almanac",
    *,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build retrieve-then-read (Self-DC, section 5.1 and Table 16; after Lewis et al. 2021).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        retriever: a retriever, `almanac`, the folder of a built index, `wikipedia`, `tavily` or `google`.
        prompts: the user's own, by name: the keys of `PROMPTS`.
        max_concurrency: model requests in flight at once, over all questions.
        settings: fields of `RetrieveThenReadSettings`.

    Raises:
        SettingsError: a setting or prompt is out of its range.
        ModelError: the model cannot be had.
        RetrievalError: the index cannot be had.
    """
    defaults = with_defaults(RetrieveThenReadSettings, settings)()
    wording = with_prompts(PROMPTS, prompts)
    door = KeepingDoor(resolve_model(model), resolve_retriever(retriever), max_concurrency=max_concurrency)
    graph = begin(defaults)
    add_first(graph, "retrieve", retrieve(door, defaults))
    graph.add_node(
        "read_passages",
        read_passages(door, defaults, wording["read_passages"], wording["answer_directly"]),
    )
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "read_passages")
    graph.add_edge("read_passages", END)
    return finished(graph, "retrieve_then_read")
