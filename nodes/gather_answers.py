"""After all branches: what they cost; and of a question that was not divided, its answer."""

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.state import spent
from knowwhen.nodes.sub_questions import DividedState, own_question


def gather_answers(door: Door) -> Node:
    """The node behind the branches of a question."""

    def gather_answers(state: DividedState) -> Update:
        outputs = [
            state["part_outputs"][each["id"]]
            for each in state["sub_questions"]
            if each["id"] in state["part_outputs"]
        ]
        update: Update = {"cost": spent(state, *(output["cost"] for output in outputs))}
        if own_question(state):
            (output,) = outputs
            update |= {
                "answer": output["answer"],
                "explanation": output["explanation"],
                "confidence": output.get("confidence"),
                "steps": output["steps"],
            }
        return update

    return as_node(door, gather_answers)
