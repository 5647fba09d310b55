"""Every tool call of the chat agent is answered, also one that was stopped or that cannot be read.

A conversation in which a call has no answer is refused by servers, so one stopped answer would end the chat.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

STOPPED = "Error: stopped before there was an answer"
UNREADABLE = "Error: the call could not be read; call again with one JSON object of the tool's arguments"


class AnsweredCalls(AgentMiddleware[Any, Any, Any]):
    """Answers in place of tools that could not."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Answer the calls of a turn that was stopped."""
        messages = state["messages"]
        whole = list(_all_answered(messages))
        if len(whole) == len(messages):
            return None
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *whole]}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Answer the calls of a turn that was stopped."""
        return self.before_agent(state, runtime)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Tell the model of calls that are no calls; without any other it is asked again."""
        last = state["messages"][-1]
        unreadable = last.invalid_tool_calls if isinstance(last, AIMessage) else []
        if not unreadable:
            return None
        told: dict[str, Any] = {"messages": list(_answers(unreadable, UNREADABLE))}
        return told if last.tool_calls else {**told, "jump_to": "model"}

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Tell the model of calls that are no calls; without any other it is asked again."""
        return self.after_model(state, runtime)


def _all_answered(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
    """The conversation, with an answer behind each message whose calls lack one."""
    answered = {each.tool_call_id for each in messages if isinstance(each, ToolMessage)}
    for message in messages:
        yield message
        if isinstance(message, AIMessage):
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            yield from _answers((call for call in calls if call["id"] not in answered), STOPPED)


def _answers(calls: Iterable[Any], content: str) -> Iterator[ToolMessage]:
    for call in calls:
        yield ToolMessage(content, tool_call_id=call["id"] or "", name=call["name"] or "", status="error")
