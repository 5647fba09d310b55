"""The chat agent's loop as a graph: what goes in and out of it, and which way is taken when."""

from typing import Annotated, Any

from langchain.agents.middleware import AgentState, before_agent
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.graph import END
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import Field
from typing_extensions import TypedDict

from knowwhen.models.errors import SettingsError

WAYS = {
    ("answered_calls.after_model", "tools"): "tool calls",
    ("answered_calls.after_model", "call_limit.before_model"): "unreadable call",
    ("answered_calls.after_model", END): "answer",
    ("tools", "call_limit.before_model"): "told",
}
"""When the agent takes which way."""


class Conversation(TypedDict):
    """What is said; it is added to."""

    messages: Annotated[
        list[AnyMessage],
        Field(
            description="The conversation. In: what the user says, "
            '{"role": "user", "content": "…"}. Out: with the calls of tools, their messages and the answer; '
            "the artifact of a method's message is its whole output: the question tree with scores and "
            "passages, and the cost"
        ),
        add_messages,
    ]


class Agent(CompiledStateGraph[Any, Any, Any, Any]):
    """What `create_agent` makes; drawn, its ways are labelled."""

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """The graph to draw."""
        return _labelled(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """The graph to draw."""
        return _labelled(await super().aget_graph(config, xray=xray))

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """What comes out, without the structured response, which this agent does not give."""
        shown = super().get_output_jsonschema(config)
        shown["properties"].pop("structured_response", None)
        return shown


def _labelled(graph: Graph) -> Graph:
    graph.edges = [
        edge._replace(data=WAYS.get((edge.source, edge.target), edge.data)) if edge.conditional else edge
        for edge in graph.edges
    ]
    return graph


@before_agent
def user_has_spoken(state: AgentState[Any], runtime: Runtime[Any]) -> None:
    """Refuse a turn in which there is nothing to answer.

    Raises:
        SettingsError: the last message is not the user's.
    """
    if not state["messages"] or not isinstance(state["messages"][-1], HumanMessage | ToolMessage):
        raise SettingsError(
            'the agent answers the last message, which must be the user\'s; give {"messages": [{"role": '
            '"user", "content": "…"}]}'
        )
