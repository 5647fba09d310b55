"""What happens while a method answers, as plain data: routes chosen, text written, questions answered."""

from collections.abc import Iterator
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
    from knowwhen.nodes.state import Answer

    modes: Any = ["custom", "updates", "values", *(["messages"] if with_text else [])]
    output: dict[str, Any] = {}
    seen: set[str] = set()
    stream: Any = method.stream({"question": question}, stream_mode=modes, subgraphs=True)
    for namespace, mode, data in stream:
        if mode == "custom":
            yield {"event": "route", **data}
        elif mode == "messages":
            message, metadata = data
            if message.text:
                yield {"event": "text", "node": metadata.get("langgraph_node"), "text": message.text}
        elif mode == "updates":
            for update in data.values():
                for step in (update or {}).get("steps", ()):
                    if step["id"] not in seen:
                        seen.add(step["id"])
                        yield {"event": "step", **step}
        elif not namespace:
            output = {name: data[name] for name in Answer.__annotations__ if name in data}
    yield {"event": "answer", **output}
