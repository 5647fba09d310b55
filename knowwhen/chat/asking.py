"""What happens in a turn, as plain data: tools called, their trees growing, the text as it is written."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from knowwhen.chat.turn import asked_of, error_of
from knowwhen.events import Event, Reading
from knowwhen.graphs.agent import Agent

MODES: Any = ["tasks", "custom", "updates", "messages"]  # of the literals that LangGraph names


async def events_of_turn(agent: Agent, message: str, thread: str) -> AsyncIterator[Event]:
    """Say something to an agent and tell what happens, in the order it happens.

    Cancelled, it leaves the conversation as it was last saved; the agent mends what is half of it.

    Yields:
        `{"event": "call", call, tool, asked}` when a tool is called; `call` is the call's id;
        `{"event": "route", call, …}` and `{"event": "step", call, …}` as of `knowwhen.events`;
        `{"event": "told", call, error}` when it is done; `error` is empty if it did not fail;
        `{"event": "text", message, text}` for each piece of a message; `message` is its id.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    given: Any = {"messages": [HumanMessage(message)]}
    following = _Following()
    stream: Any = agent.astream(given, config, stream_mode=MODES, subgraphs=True, durability="sync")
    async for namespace, mode, data in stream:
        for event in following.events(namespace, mode, data):
            yield event


class _Following:
    """Tells the calls of a turn apart: what a tool's graph streams is under its task's name."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}  # ids of calls by the tasks that make them
        self._readings: dict[str, Reading] = {}  # by calls

    def events(self, namespace: tuple[str, ...], mode: str, data: Any) -> Iterator[Event]:
        if namespace:
            yield from self._within(namespace, mode, data)
        elif mode == "tasks" and data["name"] == "tools" and "input" in data:
            yield from self._called(data)
        elif mode == "messages":
            yield from _said(data[0])

    def _called(self, task: Mapping[str, Any]) -> Iterator[Event]:
        given = task["input"]
        for call in given if isinstance(given, list) else [given["tool_call"]]:
            self._calls[f"tools:{task['id']}"] = call["id"]
            self._readings[call["id"]] = Reading()
            yield {
                "event": "call",
                "call": call["id"],
                "tool": call["name"],
                "asked": asked_of(call["args"]),
            }

    def _within(self, namespace: tuple[str, ...], mode: str, data: Any) -> Iterator[Event]:
        call = self._calls.get(namespace[0])
        if call is not None and mode in ("custom", "updates"):
            for event in self._readings[call].events(namespace, mode, data):
                yield {**event, "call": call}


def _said(message: Any) -> Iterator[Event]:
    if isinstance(message, ToolMessage):
        yield {"event": "told", "call": message.tool_call_id, "error": error_of(message)}
    elif isinstance(message, AIMessage | AIMessageChunk) and message.text:
        yield {"event": "text", "message": message.id, "text": message.text}
