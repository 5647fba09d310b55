"""Where no passage helps, the answer that the model gave most often is better than none."""

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.quiz import QuizState
from knowwhen.nodes.state import step_of


def fall_back(door: Door) -> Node:
    """The node that answers a quiz with the largest cluster's answer."""

    def fall_back(state: QuizState) -> Update:
        answer = state["consistent"] or ""
        note = "no passage was kept: answered with what the model said most often"
        return {
            "answer": answer,
            "explanation": "unsupported: no passage helps",
            "steps": [step_of(state, "retrieve", answer, note=note)],
        }

    return as_node(door, fall_back)
