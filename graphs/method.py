"""What every method is: a compiled graph from a question to an answer."""

from collections.abc import AsyncIterator, Iterator, Mapping
from string import Formatter
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables.config import RunnableConfig, ensure_config, merge_configs
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from knowwhen.graphs.composing import Whole
from knowwhen.models.errors import SettingsError
from knowwhen.models.faults import shortened
from knowwhen.models.keeping_door import SAVER
from knowwhen.nodes.node import Node
from knowwhen.nodes.settings import Settings, settings_of_run
from knowwhen.nodes.state import Answer, Asked, Question, State

ModelLike = BaseChatModel | str
Builder = StateGraph[State, Any, Any, Any]
Graph = CompiledStateGraph[State, Any, Any, Any]
INSIDE = "__pregel_task_id"  # how LangGraph tells a graph that another runs it; it has no public name


class Method(Whole, CompiledStateGraph[State, Any, Question, Answer]):
    """A compiled graph that refuses, before anything is asked, what it could not answer or would not heed."""

    def stream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **given: Any
    ) -> Iterator[Any]:
        """Run as every compiled graph does; `invoke` and `batch` come by here, too.

        Raises:
            SettingsError: there is no question, or the settings of this run cannot be read.
        """
        return super().stream(input, config, context=self._checked(input, config, context, given), **given)

    def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **given: Any
    ) -> AsyncIterator[Any]:
        """The same, asynchronously."""
        return super().astream(input, config, context=self._checked(input, config, context, given), **given)

    def _checked(
        self, input: Any, config: RunnableConfig | None, context: Any, given: Mapping[str, Any]
    ) -> Settings | None:
        """The context of a run that is to begin."""
        configurable = ensure_config(merge_configs(self.config, config)).get("configurable", {})
        if input is None and (self.checkpointer or configurable.get(SAVER)):
            pass  # a run is resumed
        elif not isinstance(input, Command):
            _check_question(input)
        settings = cast("type[Settings]", self.context_schema)
        misplaced = next((name for name in given if name in settings.model_fields), None)
        if misplaced is not None:
            raise SettingsError(f"{misplaced!r} is a setting; write context={{{misplaced!r}: …}}")
        # What surrounds a graph within another is meant for that one.
        return settings_of_run(settings, context, {} if INSIDE in configurable else configurable)


def finished(graph: Builder, name: str) -> Method:
    """The method that a graph is, wired to the end."""
    return Method(**vars(graph.compile(name=name)))


def _check_question(input: Any) -> None:
    question = input.get("question") if isinstance(input, Mapping) else getattr(input, "question", None)
    if not isinstance(question, str) or not question.strip():
        raise SettingsError(
            f'a method is asked {{"question": "…"}} with a text in it, not {shortened(repr(input))}'
        )


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
        SettingsError: no node has that name, or a prompt is no text, or its placeholders are not those of the
            one it replaces.
    """
    if not isinstance(given, Mapping | None):
        raise SettingsError(
            f"prompts are texts by name, such as {{{next(iter(own))!r}: '…'}}, not {shortened(repr(given))}"
        )
    prompts = dict(own)
    for name, prompt in (given or {}).items():
        if name not in own:
            raise SettingsError(f"there is no prompt {name!r}; choose from {', '.join(own)}")
        if not isinstance(prompt, str):
            raise SettingsError(f"the prompt {name!r} is a text, not {shortened(repr(prompt))}")
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
