"""Direct prompting: one call, no look-up. One end of every comparison."""

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START

from knowwhen.graphs.method import Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes.answer_directly import PROMPT, answer_directly
from knowwhen.nodes.settings import Settings, with_defaults


class DirectSettings(Settings):
    """The settings of direct prompting."""


def direct(
    model: ModelLike = "pocket",
    *,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build direct prompting (Self-DC, section 5.1 and Table 14).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        prompts: the user's own, by node: `answer_directly`.
        max_concurrency: model requests in flight at once, over all questions.
        settings: fields of `DirectSettings`.

    Raises:
        SettingsError: a setting or prompt is out of its range.
        ModelError: the model cannot be had.
    """
    defaults = with_defaults(DirectSettings, settings)()
    wording = with_prompts({"answer_directly": PROMPT}, prompts)
    door = KeepingDoor(resolve_model(model), max_concurrency=max_concurrency)
    graph = begin(defaults)
    add_first(graph, "answer_directly", answer_directly(door, defaults, wording["answer_directly"]))
    graph.add_edge(START, "answer_directly")
    graph.add_edge("answer_directly", END)
    return finished(graph, "direct")
