"""The answer of a question, read from its knowledge chains (TAIKC, section 3.3, equation 6)."""

from itertools import chain as chained

from knowwhen.models.door import Door
from knowwhen.nodes import read_if_there
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.queries import Chain, TreeState, paths
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import Step, spent, step_of
from knowwhen.tools.passage import Passage

PROMPT = read_if_there.PROMPT


def read_chains(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node that answers a question from its chains, which stand where the passages of a query stand."""

    def read_chains(state: TreeState) -> Update:
        chains = [state["chains"][path[-1]["id"]] for path in paths(state["sub_questions"])]
        asked = read_if_there.as_prompt(prompt, state["question"], _as_passages(chains))
        reply = door.ask(asked, **settings.of_this_run().sampling())
        answer = reply.text.strip()
        details = {
            "chains": [{name: chain[name] for name in ("queries", "text", "summary")} for chain in chains]
        }
        notes = [chain["note"] for chain in chains if chain["note"]]
        if read_if_there.not_there(answer):
            notes.append("the chains do not hold the answer")
        told: TreeState = {**state, "details": details, "notes": [*state.get("notes", []), *notes]}
        return {
            "answer": answer,
            "explanation": " ".join(chain["text"] for chain in chains),
            "steps": [*steps_of(state), step_of(told, "decompose", answer)],
            "cost": spent(state, *(chain["cost"] for chain in chains), reply.cost),
        }

    return as_node(door, read_chains)


def steps_of(state: TreeState) -> list[Step]:
    """The steps of all queries that were asked, in pre-order."""
    outputs = [state["part_outputs"].get(query["id"]) for query in state["sub_questions"]]
    return list(chained.from_iterable(output["steps"] for output in outputs if output))


def _as_passages(chains: list[Chain]) -> list[Passage]:
    return [
        Passage(id="", title="", text=chain["text"], source="", rank=rank, score=None)
        for rank, chain in enumerate(chains, 1)
    ]
