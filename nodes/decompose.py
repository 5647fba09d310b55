"""Decomposition: split a question into independent sub-questions (Self-DC, Table 21).

Figure 3 retrieves what cannot be divided. So is whatever the model writes that is no division: nothing
readable, one part only, the question again, more parts than any question has.
"""

import re

from pydantic import Field

from knowwhen.models.door import Door
from knowwhen.models.faults import shortened
from knowwhen.nodes.listing import bare, listed
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import State, noted, spent

PROMPT = """\
Split the question into smaller questions that can each be answered alone.
If it cannot be split, repeat it as #1.
Write one question a line, as #1: and #2: and so on.
Question: {question}"""

MOST_PARTS = 16

_REFERENCE = re.compile(r"#\d")


class DecompositionSettings(Settings):
    """How deep a question may be split."""

    max_depth: int = Field(
        default=3, ge=0, le=10, description="Questions this deep in the tree are split no more"
    )


def read_parts(text: str) -> list[str]:
    """The sub-questions in a reply, see `listed`. The same question twice is one."""
    return list(dict.fromkeys(part for _, part in listed(text)))


def why_not(question: str, parts: list[str], reply: str) -> str | None:
    """Why these parts are no division of the question; None if they are one."""
    if not parts:
        return f"no sub-question in {shortened(reply)!r}"
    if len(parts) > MOST_PARTS:
        return f"{len(parts)} sub-questions are more than {MOST_PARTS}"
    if any(bare(part) == bare(question) for part in parts):
        return "the sub-questions repeat the question"
    if len(parts) == 1:
        return "only one sub-question"
    if any(_REFERENCE.search(part) for part in parts):
        return "a sub-question needs another's answer"
    return None


def decompose(door: Door, settings: DecompositionSettings, prompt: str = PROMPT) -> Node:
    """The node that splits a question, or sends it to retrieval and says why."""

    def decompose(state: State) -> Update:
        now = settings.of_this_run()
        if state.get("depth", 0) >= now.max_depth:
            return _retrieved(state, f"depth {now.max_depth} reached: retrieved")
        reply = door.ask(prompt.format(question=state["question"]), **now.sampling())
        parts = read_parts(reply.text)
        reason = why_not(state["question"], parts, reply.text)
        if reason is not None:
            return {
                **_retrieved(state, f"not decomposed, {reason}: retrieved"),
                "cost": spent(state, reply.cost),
            }
        return {"parts": parts, "cost": spent(state, reply.cost)}

    return as_node(door, decompose)


def _retrieved(state: State, note: str) -> Update:
    report_progress(state, "retrieve", state.get("confidence"))
    return {"route": "retrieve", "notes": noted(state, note)}
