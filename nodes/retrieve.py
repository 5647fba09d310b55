"""Retrieve-then-read's first half: the passages that the retriever finds for the question."""

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.settings import ReadingSettings
from knowwhen.nodes.state import State, noted, spent
from knowwhen.tools.passage import as_passages


def retrieve(door: Door, settings: ReadingSettings) -> Node:
    """The node that looks the question up."""

    def retrieve(state: State) -> Update:
        found = door.retrieve(state["question"], settings.of_this_run().passages)
        return {
            "route": "retrieve",
            "passages": as_passages(found.documents),
            "notes": noted(
                state, None if found.documents else "nothing was found: the answer is unsupported"
            ),
            "cost": spent(state, found.cost),
        }

    return as_node(door, retrieve)
