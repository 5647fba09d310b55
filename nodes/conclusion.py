"""The words with which a reasoning announces its final answer, as real models write them."""

import re

from knowwhen.nodes.think_step_by_step import read_thought

_MARK = re.compile(r"(?:\bso\b,?\s+)?\bthe\s+final\s+answer\s+is\b\s*:?", re.IGNORECASE)
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)")


def concludes(step: str) -> bool:
    """Whether a step announces the final answer."""
    return _MARK.search(plain(step)) is not None


def without_mark(step: str) -> str:
    """A step without the words that announce the final answer."""
    return " ".join(_MARK.sub(" ", plain(step)).split())


def final_answer(text: str) -> tuple[str, bool]:
    """The answer that a reasoning ends in, and whether it is marked as such; else it is the last line."""
    answer = read_thought(text)
    if answer is None:  # a mark with nothing behind it is a reply cut off
        return without_mark(text.split("\n")[-1]), False
    return answer, True


def mark_in(step: str) -> range:
    """The places of the letters that announce the final answer; none if a step does not."""
    found = _MARK.search(step)
    return range(*found.span()) if found else range(0)


def plain(text: str) -> str:
    """A text without Markdown's bold face."""
    return _BOLD.sub(r"\1", text)
