"""Combination: answer a question from its sub-questions and their answers (Self-DC, Table 21)."""

from collections.abc import Sequence
from itertools import chain

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import State, part_ids, spent, step_of

PROMPT = """\
Question: {question}
These smaller questions have been answered:
{pairs}
Answer the question from them with just a few words.
Question: {question}
Answer:"""


def as_pairs(questions: Sequence[str], answers: Sequence[str]) -> str:
    """The lines that show the model each sub-question with its answer."""
    return "\n".join(f"#{i}: {q} {a}" for i, (q, a) in enumerate(zip(questions, answers, strict=True), 1))


def combine(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node that answers a decomposed question from its parts' answers."""

    def combine(state: State) -> Update:
        parts = [state["part_outputs"][id] for id in part_ids(state)]
        pairs = as_pairs(state["parts"], [part["answer"] for part in parts])
        reply = door.ask(
            prompt.format(question=state["question"], pairs=pairs), **settings.of_this_run().sampling()
        )
        answer = reply.text.strip()
        return {
            "answer": answer,
            "explanation": f"combined from\n{pairs}",
            "steps": [
                *chain.from_iterable(part["steps"] for part in parts),
                step_of(state, "decompose", answer),
            ],
            "cost": spent(state, *(part["cost"] for part in parts), reply.cost),
        }

    return as_node(door, combine)
