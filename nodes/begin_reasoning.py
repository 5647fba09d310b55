"""Empty buffers: a question reasons from nothing that an earlier one in the same thread has left."""

from knowwhen.models.cost import NO_COST
from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.state import State


def begin_reasoning(door: Door) -> Node:
    """The node that a reasoning begins with."""

    def begin_reasoning(state: State) -> Update:
        return {
            "rationales": [],
            "knowledge": [],
            "queries": [],
            "halted": None,
            "steps": [],
            "notes": [],
            "cost": NO_COST,
        }

    return as_node(door, begin_reasoning)
