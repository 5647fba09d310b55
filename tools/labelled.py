"""A passage with its utility to a question, and everything that the label came from (KEQA, section 3.4)."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator

Utility = Literal[-1, 0, 1]
"""What the passage did to the F1 of the answer: lowered it, left it, raised it."""
HELPFUL: Utility = 1
HARMFUL: Utility = -1
SHOWN, LEAST = 8, 2
"""Demonstrations shown before a question about utility, and how many of each label at least."""


def _storable(text: object) -> object:
    # Half a surrogate pair, which a server's JSON can hold, is no text that a file could.
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


Text = Annotated[str, BeforeValidator(_storable)]


class Labelled(BaseModel, frozen=True, extra="forbid"):
    """One label: a question, a passage, its utility, and the two answers that it was read from."""

    question: Text
    title: Text
    text: Text
    utility: Utility
    passage_id: Text
    rank: int
    """The passage's place in what was retrieved; 1 is the best."""
    question_id: Text
    golden_answers: tuple[Text, ...]
    already_helpful: tuple[Text, ...]
    """Ids of the passages that both answers were read from: those found helpful before this one."""
    answer_without: Text
    answer_with: Text
    f1_without: float
    """In [0, 1], like the next."""
    f1_with: float


class Origin(BaseModel, frozen=True, extra="forbid"):
    """Who labelled what; labels of two origins do not belong into one set."""

    dataset: str
    model: str
    weights: str
    """A fingerprint of a local model's weights; empty for others."""
    corpus: str
    passages: int
    """How many were labelled for each question, at most."""
    prompts: str
    """A fingerprint of the prompts that the answers were asked with."""
