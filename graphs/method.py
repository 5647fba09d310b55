"""What every method is: a compiled graph from a question to an answer."""

from collections.abc import Mapping
from string import Formatter
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from knowwhen.models.errors import SettingsError
from knowwhen.nodes.node import Node
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import Answer, Asked, Question, State

ModelLike = BaseChatModel | str
Method = CompiledStateGraph[State, Any, Question, Answer]
Builder = StateGraph[State, Any, Any, Any]


def begin(
    settings: Settings, input_schema: type = Question, state: type = State, output_schema: type = Answer
) -> Builder:
    """An empty graph whose runs take these settings as their context."""
    return StateGraph(
        state, context_schema=type(settings), input_schema=input_schema, output_schema=output_schema
    )


def add_first(graph: Builder, name: str, node: Node, input_schema: type[Asked] = Asked) -> None:
    """Add the node that a graph begins with, which sees nothing of an earlier question in the same thread."""
    graph.add_node(name, cast("Any", node), input_schema=input_schema)


def with_prompts(own: Mapping[str, str], given: Mapping[str, str] | None) -> dict[str, str]:
    """A method's prompts by their nodes' names, some of them replaced by the user's.

    Raises:
        SettingsError: no node has that name, or a prompt's placeholders are not those of the one it replaces.
    """
    prompts = dict(own)
    for name, prompt in (given or {}).items():
        if name not in own:
            raise SettingsError(f"there is no prompt {name!r}; choose from {', '.join(own)}")
        try:
            found = _placeholders(prompt)
        except ValueError as error:
            raise SettingsError(f"the prompt {name!r} is no template: {error}; write a brace twice") from None
        if found != _placeholders(own[name]):
            wanted = ", ".join(f"{{{field}}}" for field in sorted(_placeholders(own[name])))
            raise SettingsError(f"the prompt {name!r} must hold {wanted} and no other placeholder")
        prompts[name] = prompt
    return prompts


def _placeholders(prompt: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(prompt) if field is not None}
