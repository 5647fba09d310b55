"""What happens while a method answers, as plain data: routes chosen, text written, questions answered."""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowwhen.graphs import Method

Event = dict[str, Any]


def events_of(method: "Method", question: str, with_text: bool = False) -> Iterator[Event]:
    """Ask a method and tell what happens, in the order it happens.

    Yields:
        `{"event": "route", id, question, route, score}` when a question's way is chosen;
        `{"event": "text", node, text}` for each piece of a reply, if `with_text`;
        `{"event": "step", …}` with the fields of a `Step` when a question is answered;
        `{"event": "answer", …}` with the whole output, last.
    """
    reading = Reading()
    stream: Any = method.stream({"question": question}, stream_mode=_modes(with_text), subgraphs=True)
    for namespace, mode, data in stream:
        yield from reading.events(namespace, mode, data)
    yield reading.answer()


async def aevents_of(method: "Method", question: str, with_text: bool = False) -> AsyncIterator[Event]:
    """The same without blocking; it can be cancelled, and then no node is begun any more."""
    reading = Reading()
    stream: Any = method.astream({"question": question}, stream_mode=_modes(with_text), subgraphs=True)
    async for namespace, mode, data in stream:
        for event in reading.events(namespace, mode, data):
            yield event
    yield reading.answer()


def _modes(with_text: bool) -> Any:  # of the literals that LangGraph names
    return ["custom", "updates", "values", *(["messages"] if with_text else [])]


class Reading:
    """What a graph streams, read as events."""

    def __init__(self) -> None:
        self._output: dict[str, Any] = {}
        self._seen: set[str] = set()

    def events(self, namespace: tuple[str, ...], mode: str, data: Any) -> Iterator[Event]:
        """The events of one part of the stream."""
        if mode == "custom":
            yield {"event": "route", **data}
        elif mode == "messages":
            message, metadata = data
            if message.text:
                yield {"event": "text", "node": metadata.get("langgraph_node"), "text": message.text}
        elif mode == "updates":
            for update in data.values():
                for step in (update or {}).get("steps", ()):
                    if step["id"] not in self._seen:
                        self._seen.add(step["id"])
                        yield {"event": "step", **step}
        elif not namespace:
            self._output = data

    def answer(self) -> Event:
        """The whole output, when the stream has ended."""
        from knowwhen.nodes.state import Answer

        told = {name: self._output[name] for name in Answer.__annotations__ if name in self._output}
        return {"event": "answer", **told}
