"""What a tool of the chat agent hands back: the answer or the passages, and their sources on the last line.

Short and of one form, so that even the pocket model, which has learnt it, can pass it on.
"""

from collections.abc import Iterable, Sequence

from knowwhen.tools.passage import Passage

NO_ANSWER = "No answer found"
NOTHING_FOUND = "Nothing found"
SOURCES = "Sources: "
FROM_MEMORY = "none, answered from memory"
ERROR = "Error: "
MOST_SOURCES = 8


def answer_content(answer: str, titles: Iterable[str]) -> str:
    """A method's answer and, on a second line, the titles of what it looked up.

    Args:
        answer: the answer; empty where there is none.
        titles: of the passages, in the order read; each is named once, at most `MOST_SOURCES` of them.
    """
    return f"{_line(answer) or NO_ANSWER}\n{SOURCES}{_sources(titles) or FROM_MEMORY}"


def search_content(passages: Sequence[Passage]) -> str:
    """The passages found, one a line behind its number and title, and their titles on a last line."""
    if not passages:
        return f"{NOTHING_FOUND}\n{SOURCES}none"
    lines = [f"[{rank}] {_line(p['title'])}: {_line(p['text'])}" for rank, p in enumerate(passages, 1)]
    return "\n".join([*lines, SOURCES + _sources(p["title"] for p in passages)])


def error_content(error: Exception) -> str:
    """A failure in one line."""
    return ERROR + _line(str(error))


def _sources(titles: Iterable[str]) -> str:
    named = dict.fromkeys(line for title in titles if (line := _line(title)))
    return "; ".join(list(named)[:MOST_SOURCES])


def _line(text: str) -> str:
    return " ".join(text.split())
