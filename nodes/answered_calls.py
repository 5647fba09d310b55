"""Every message and tool call of the chat agent is answered, also one that was stopped or cannot be read.

A conversation in which a call has no answer is refused by servers, and one in which the user speaks twice by
some chat templates, so one stopped answer would end the chat.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

STOPPED = "Error: stopped before there was an answer"
UNREADABLE = "Error: the call could not be read; call again with one JSON object of the tool's arguments"
NAMELESS = "nameless"
NO_ANSWER = "(There was no answer.)"
"""The model's part of a turn that was stopped or failed."""


class AnsweredCalls(AgentMiddleware[Any, Any, Any]):
    """Answers in place of tools and models that could not."""

    name = "answered_calls"

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Answer the calls of a turn that was stopped, and close the turn."""
        messages = state["messages"]
        whole = list(_all_answered(messages))
        if len(whole) == len(messages):
            return None
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *whole]}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Answer the calls of a turn that was stopped, and close the turn."""
        return self.before_agent(state, runtime)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Tell the model of calls that are no calls; without any other it is asked again."""
        last = state["messages"][-1]
        if not isinstance(last, AIMessage) or not _calls(last):
            return None
        known = {call["id"] for each in state["messages"][:-1] for call in _calls(each)}
        named = _mended(last, known)
        if named == last and not last.invalid_tool_calls:
            return None
        told: dict[str, Any] = {"messages": [named, *_answers(named.invalid_tool_calls, UNREADABLE)]}
        return told if last.tool_calls else {**told, "jump_to": "model"}

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Tell the model of calls that are no calls; without any other it is asked again."""
        return self.after_model(state, runtime)


def _all_answered(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
    """The conversation, with an answer behind each message that lacks one, and each whose calls do."""
    for place, message in enumerate(messages):
        if isinstance(message, HumanMessage) and place and not _is_answer(messages[place - 1]):
            yield AIMessage(NO_ANSWER)
        yield message
        behind = takewhile(lambda each: isinstance(each, ToolMessage), messages[place + 1 :])
        answered = {each.tool_call_id for each in behind if isinstance(each, ToolMessage)}
        yield from _answers((call for call in _calls(message) if call["id"] not in answered), STOPPED)


def _is_answer(message: AnyMessage) -> bool:
    """Whether a message may stand before the user's next one."""
    return isinstance(message, SystemMessage) or (isinstance(message, AIMessage) and not _calls(message))


def _calls(message: AnyMessage) -> list[Any]:
    return [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []


def _mended(message: AIMessage, known: Iterable[str | None]) -> AIMessage:
    """The message as servers take it back: each call with an id of its own, a name and JSON for arguments.

    Some servers give no ids, or the same again, and refuse a conversation whose arguments they cannot read.
    """
    taken = {None, "", *known}

    def own(call: Any) -> Any:
        named = call if call["id"] not in taken else {**call, "id": secrets.token_hex(5)[:9]}
        taken.add(named["id"])
        return named

    def readable(call: Any) -> Any:
        return {**call, "name": call["name"] or NAMELESS, "args": json.dumps({"unreadable": call["args"]})}

    changes = {
        "tool_calls": list(map(own, message.tool_calls)),
        "invalid_tool_calls": [own(readable(call)) for call in message.invalid_tool_calls],
    }
    return message.model_copy(update=changes)


def _answers(calls: Iterable[Any], content: str) -> Iterator[ToolMessage]:
    for call in calls:
        yield ToolMessage(content, tool_call_id=call["id"] or "", name=call["name"] or "", status="error")
