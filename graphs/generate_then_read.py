"""Generate-then-read: the model writes a passage and answers from it. Self-DC's end at α = β = 0."""

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START

from knowwhen.graphs.method import Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes.answer_directly import PROMPT as DIRECT_PROMPT
from knowwhen.nodes.generate_background import PROMPT as BACKGROUND_PROMPT
from knowwhen.nodes.generate_background import generate_background
from knowwhen.nodes.read_passages import PROMPT as READING_PROMPT
from knowwhen.nodes.read_passages import read_passages
from knowwhen.nodes.settings import Settings, with_defaults

PROMPTS = {
    "answer_directly": DIRECT_PROMPT,  # without a passage
    "generate_background": BACKGROUND_PROMPT,
    "read_passages": READING_PROMPT,
}


class GenerateThenReadSettings(Settings):
    """The settings of generate-then-read."""


def generate_then_read(
    model: ModelLike = "pocket",
    *,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build generate-then-read (Self-DC, section 5.1 and Table 17; after Yu et al. 2023).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        prompts: the user's own, by name: the keys of `PROMPTS`.
        max_concurrency: model requests in flight at once, over all questions.
        settings: fields of `GenerateThenReadSettings`.

    Raises:
        SettingsError: a setting or prompt is out of its range.
        ModelError: the model cannot be had.
    """
    defaults = with_defaults(GenerateThenReadSettings, settings)()
    wording = with_prompts(PROMPTS, prompts)
    door = KeepingDoor(resolve_model(model), max_concurrency=max_concurrency)
    graph = begin(defaults)
    add_first(
        graph, "generate_background", generate_background(door, defaults, wording["generate_background"])
    )
    graph.add_node(
        "read_passages",
        read_passages(door, defaults, wording["read_passages"], wording["answer_directly"]),
    )
    graph.add_edge(START, "generate_background")
    graph.add_edge("generate_background", "read_passages")
    graph.add_edge("read_passages", END)
    return finished(graph, "generate_then_read")
