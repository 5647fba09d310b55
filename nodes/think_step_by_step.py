"""Zero-shot chain of thought: reason first, then answer (Self-DC, Table 15)."""

import re

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import State, spent, step_of

PROMPT = """\
Think step by step, then write "So the answer is" and the answer in a few words.
Question: {question}"""

ANSWER_MARK = "So the answer is"

_ANSWER = re.compile(r"\b(?:final\s+)?answer\s+is\s*:?\s*", re.IGNORECASE)


def read_thought(text: str) -> str | None:
    """The answer that a chain of thought ends in; None if it names none."""
    *_, last = _ANSWER.split(text)
    if last == text:
        return None
    return last.strip().split("\n")[0].strip(" .*") or None


def think_step_by_step(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node that reasons and answers in one call; without a marked answer the last line is it."""

    def think_step_by_step(state: State) -> Update:
        reply = door.ask(prompt.format(question=state["question"]), **settings.of_this_run().sampling())
        answer = read_thought(reply.text)
        note = None
        if answer is None:
            lines = reply.text.strip().splitlines()
            answer = lines[-1].strip() if lines else ""
            note = f'no "{ANSWER_MARK}" in the thought: its last line is the answer'
        return {
            "answer": answer,
            "explanation": reply.text.strip(),
            "steps": [step_of(state, "direct", answer, note=note)],
            "cost": spent(state, reply.cost),
        }

    return as_node(door, think_step_by_step)
