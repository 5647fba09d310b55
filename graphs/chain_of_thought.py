"""Chain of thought: one call, in which the model reasons before it answers."""

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START

from knowwhen.graphs.method import Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes.settings import Settings, with_defaults
from knowwhen.nodes.think_step_by_step import PROMPT, think_step_by_step


class ChainOfThoughtSettings(Settings):
    """The settings of chain of thought."""


def chain_of_thought(
    model: ModelLike = "pocket",
    *,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build zero-shot chain of thought (Self-DC, section 5.1 and Table 15).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        prompts: the user's own, by node: `think_step_by_step`.
        max_concurrency: model requests in flight at once, over all questions.
        settings: fields of `ChainOfThoughtSettings`.

    Raises:
        SettingsError: a setting or prompt is out of its range.
        ModelError: the model cannot be had.
    """
    defaults = with_defaults(ChainOfThoughtSettings, settings)()
    wording = with_prompts({"think_step_by_step": PROMPT}, prompts)
    door = KeepingDoor(resolve_model(model), max_concurrency=max_concurrency)
    graph = begin(defaults)
    add_first(graph, "think_step_by_step", think_step_by_step(door, defaults, wording["think_step_by_step"]))
    graph.add_edge(START, "think_step_by_step")
    graph.add_edge("think_step_by_step", END)
    return finished(graph, "chain_of_thought")
