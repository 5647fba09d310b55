"""A chat agent over the methods: it chooses by the question, and answers with its sources."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.types import Checkpointer

from knowwhen.graphs import METHODS
from knowwhen.graphs.agent_graph import Agent, Conversation, user_has_spoken
from knowwhen.graphs.agent_prompt import PROMPT
from knowwhen.graphs.agent_settings import AsSet, settings_of
from knowwhen.graphs.building import build_method
from knowwhen.graphs.descriptions import DESCRIPTIONS
from knowwhen.graphs.method import Method
from knowwhen.models.capability import describe
from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.nodes.answered_calls import AnsweredCalls
from knowwhen.nodes.call_limit import CallLimit
from knowwhen.nodes.patient_model import PatientModel
from knowwhen.tools.method_as_tool import as_tool
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.tools.search_as_tool import search_tool

__all__ = ["MODEL_CALLS", "TOOLS", "Agent", "agent"]

TOOLS = ("self_dc", "keqa", "seakr", "taikc")
MODEL_CALLS = 8  # of one turn; a model that calls on and on is stopped


def agent(
    model: ModelLike = "pocket",
    retriever: RetrieverLike = "almanac",
    *,
    methods: Sequence[str] | None = None,
    search: bool = True,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    prompt: str = PROMPT,
    checkpointer: Checkpointer = None,
) -> Agent:
    """Build the agent: a tool-calling loop with methods, and plain search, as its tools.

    It takes `{"messages": [...]}` and adds to them: the call, the tool's message (the method's whole output
    is its `artifact`) and the answer. With a checkpointer and a `thread_id` it keeps the conversation.
    A run may change the methods' settings: `context={"self_dc": {"alpha": 0.7}}`.

    Args:
        model: who talks, and who answers within the methods; it must call tools.
        retriever: what is looked up in.
        methods: names of `METHODS`; None: those of `TOOLS` that the model can be used with as it is, with a
            warning for each of the others that says what it wants.
        search: whether passages can be searched for, too.
        settings: of the methods, by their names.
        prompt: tells the model what to do.
        checkpointer: keeps conversations.

    Raises:
        CapabilityError: the model calls no tools, or does not report what a method needs.
        SettingsError: there is no such method or setting, or no tool is left.
        ModelError: the model cannot be had.
        RetrievalError: the corpus cannot be had.
    """
    chat, corpus = resolve_model(model), resolve_retriever(retriever)
    own = dict(settings or {})
    unknown = next((name for name in (*(methods or ()), *own) if name not in METHODS), None)
    if unknown is not None:
        raise SettingsError(f"there is no method {unknown!r}; choose from {', '.join(METHODS)}")
    built = list(_built(chat, corpus, methods, own))
    tools: list[BaseTool] = [
        as_tool(AsSet(each), name=each.name, description=DESCRIPTIONS[each.name]) for each in built
    ]
    if search:
        tools.append(search_tool(corpus))
    if not tools:
        raise SettingsError("an agent needs a tool; give a method, or search=True")
    _require_tool_calls(chat, tools)
    made: Any = create_agent(
        chat,
        tools,
        system_prompt=prompt,
        middleware=[AnsweredCalls(), user_has_spoken, CallLimit(MODEL_CALLS), PatientModel()],
        state_schema=cast("Any", Conversation),
        context_schema=settings_of(built),
        checkpointer=checkpointer,
        name="agent",
    )
    return Agent(**vars(made))


def _built(
    chat: BaseChatModel,
    corpus: Any,
    methods: Sequence[str] | None,
    settings: Mapping[str, Mapping[str, Any]],
) -> Iterator[Method]:
    for name in TOOLS if methods is None else methods:
        try:
            yield build_method(name, chat, corpus, settings.get(name, {}))
        except (CapabilityError, SettingsError) as error:
            if methods is not None or name in settings:
                raise
            warnings.warn(f"the agent goes without {name}: {error}", stacklevel=3)


def _require_tool_calls(chat: BaseChatModel, tools: Sequence[BaseTool]) -> None:
    try:
        chat.bind_tools(tools)
    except NotImplementedError:
        raise CapabilityError(
            f"an agent needs a model that calls tools, and {describe(chat)} does not; use pocket, openai:…, "
            "or transformers:<folder> of a model whose chat template shows tools"
        ) from None
