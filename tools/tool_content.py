"""What a tool of the chat agent hands back: the answer or the passages, and their sources on the last line.

Short and of one form, so that even the pocket model, which has learnt it, can pass it on. Whatever an answer
or a passage says, it stays within its line, and a title is one title.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from knowwhen.tools.passage import Passage, name_of

NO_ANSWER = "No answer found"
NOTHING_FOUND = "Nothing found"
SOURCES = "Sources: "
FROM_MEMORY = "none, answered from memory"
ERROR = "Error: "
MOST_SOURCES = 8
BETWEEN = "; "  # two sources
LONGEST_NAME, LONGEST_TEXT = 200, 4_000  # characters of a title, and of an answer or a passage


def answer_content(answer: str, titles: Iterable[str]) -> str:
    """A method's answer and, on a second line, the titles of what it looked up.

    Args:
        answer: the answer; empty where there is none.
        titles: of the passages, in the order read, or what else they are called; each is named once, at most
            `MOST_SOURCES` of them.
    """
    return f"{_line(answer, LONGEST_TEXT) or NO_ANSWER}\n{SOURCES}{_sources(titles) or FROM_MEMORY}"


def search_content(passages: Sequence[Passage]) -> str:
    """The passages found, one a line behind its number and title, and their titles on a last line.

    One without a title is called by where it was found.
    """
    if not passages:
        return f"{NOTHING_FOUND}\n{SOURCES}none"
    lines = [
        f"[{rank}] {_line(name_of(p), LONGEST_NAME)}: {_line(p['text'], LONGEST_TEXT)}"
        for rank, p in enumerate(passages, 1)
    ]
    return "\n".join([*lines, SOURCES + _sources(map(name_of, passages))])


def looked_up(steps: Iterable[Mapping[str, Any]]) -> list[Passage]:
    """The passages that were found for some steps, not those that the model wrote itself (`generate`)."""
    return [passage for step in steps if step["route"] != "generate" for passage in step["passages"]]


def error_content(error: Exception) -> str:
    """A failure in one line."""
    return ERROR + _line(str(error), LONGEST_TEXT)


def _sources(titles: Iterable[str]) -> str:
    named = dict.fromkeys(_line(title, LONGEST_NAME).replace(BETWEEN, ", ") for title in titles)
    return BETWEEN.join([name for name in named if name][:MOST_SOURCES])


def _line(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
