"""Look-up: the passages that the retriever finds for the question, or for a query made of it."""

from typing import Any, Literal, cast

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.settings import ReadingSettings
from knowwhen.nodes.state import State, noted, spent
from knowwhen.tools.passage import as_passages


def retrieve(door: Door, settings: ReadingSettings, by: Literal["question", "query"] = "question") -> Node:
    """The node that looks the question up, or the query that a method has made."""

    def retrieve(state: State) -> Update:
        asked: str = cast("Any", state)[by]
        found = door.retrieve(asked, settings.of_this_run().passages)
        return {
            "route": "retrieve",
            "passages": as_passages(found.documents),
            "notes": noted(
                state, None if found.documents else "nothing was found: the answer is unsupported"
            ),
            "cost": spent(state, found.cost),
        }

    return as_node(door, retrieve)
