"""Without continuation a question ends where its passages do not hold an answer (TAIKC, Appendix H.2)."""

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.queries import TreeState, unanswered
from knowwhen.nodes.read_chains import steps_of
from knowwhen.nodes.state import step_of


def give_up(door: Door) -> Node:
    """The node that leaves a question without an answer and says which query had none."""

    def give_up(state: TreeState) -> Update:
        outputs = [state["part_outputs"].get(query["id"]) for query in state["sub_questions"]]
        ended = next(output for output in outputs if output and unanswered(output))
        asked = ended["steps"][-1]["resolved"]
        note = f"not answered: no passage holds {asked!r}"
        return {
            "answer": ended["answer"],
            "explanation": note,
            "steps": [*steps_of(state), step_of(state, "decompose", ended["answer"], note=note)],
        }

    return as_node(door, give_up)
