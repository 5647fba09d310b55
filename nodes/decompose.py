"""Decomposition: split a question into independent sub-questions (Self-DC, Table 21).

Figure 3 retrieves what cannot be divided. So is whatever the model writes that is no division: nothing
readable, one part only, the question again, more parts than any question has.
"""

import re

from pydantic import Field

from knowwhen.models.door import Door
from knowwhen.models.faults import shortened
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

# What stands before a part, in the order looked for: "#1:" anywhere or "#1" at the start of a line; "1." or
# "Question 1:" there or behind a question mark; a bullet there.
_MARKS = (
    re.compile(r"[\"'*]{0,4}#{1,4}[ \t]?\d+[\"'*]{0,4}[ \t]?:|^[^\w\n#]{0,8}#\d+\**[ \t.)\-–]", re.MULTILINE),
    re.compile(
        r"(?:^[^\w\n]{0,8}|(?<=\?)[\s,;]{1,8})(?:(?:sub-?)?question |step |Q)?\(?\d{1,3}\**[.):](?!\d)",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(r"^[ \t]{0,8}[-*•]\s", re.MULTILINE),
)
_QUOTED = re.compile(r'"([^"\n]+\?)"')
_AROUND = " \t,;:*_`-–[]{}"  # punctuation, Markdown, lists and code around a part
_REFERENCE = re.compile(r"#\d")


class DecompositionSettings(Settings):
    """How deep a question may be split."""

    max_depth: int = Field(
        default=3, ge=0, le=10, description="Questions this deep in the tree are split no more"
    )


def read_parts(text: str) -> list[str]:
    """The sub-questions in a reply: `#1: … #2: …`, one a line or in one, numbered or bulleted otherwise.

    Of what stands behind a mark the first line counts; prose before the first mark is left out. Without any
    mark a part is a quoted question, as in a JSON list, else a line that ends in a question mark. The same
    question twice is one.
    """
    for mark in _MARKS:
        marked = mark.split(text)[1:]
        if marked:
            break
    else:
        lines = [line.strip() for line in text.splitlines()]
        marked = _QUOTED.findall(text) or [line for line in lines if line.endswith("?")]
    parts = (_first_line(part) for part in marked)
    return list(dict.fromkeys(part for part in parts if part))


def _first_line(text: str) -> str:
    lines = (" ".join(line.split()).strip(_AROUND) for line in text.splitlines())
    line = next((line for line in lines if line), "")
    return line[1:-1].strip() if line[:1] == line[-1:] and line[:1] in ("'", '"') else line


def why_not(question: str, parts: list[str], reply: str) -> str | None:
    """Why these parts are no division of the question; None if they are one."""
    if not parts:
        return f"no sub-question in {shortened(reply)!r}"
    if len(parts) > MOST_PARTS:
        return f"{len(parts)} sub-questions are more than {MOST_PARTS}"
    if any(_bare(part) == _bare(question) for part in parts):
        return "the sub-questions repeat the question"
    if len(parts) == 1:
        return "only one sub-question"
    if any(_REFERENCE.search(part) for part in parts):
        return "a sub-question needs another's answer"
    return None


def _bare(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


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
