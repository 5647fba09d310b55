"""A model judges whether an answer implies another: the semantic accuracy Acc† (TAIKC, appendix G)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.door import Door
from knowwhen.uncertainty.judge import says_yes

PROMPT = """\
Question: {question}
Right answer: {right}
Given answer: {given}

Does the right answer follow from the given answer? Reply with yes or no."""

MAX_TOKENS = 8  # of a reply


@dataclass(frozen=True)
class Implied:
    """What the model says of each pair: 1 for yes, 0 for no."""

    verdicts: tuple[float, ...]
    unread: int
    """Replies that said neither; they count as no."""
    cost: Cost


def implied(
    door: Door, question: str, pairs: Sequence[tuple[Sequence[str], str]], prompt: str = PROMPT
) -> Implied:
    """Ask whether given answers imply right ones, all pairs at once and equal ones once.

    Args:
        door: to the model that judges.
        question: what all of them answer.
        pairs: right answers, of which one is enough, and a given one.
        prompt: with the places `{question}`, `{right}` and `{given}`.

    Raises:
        ModelError: the model failed.
    """
    asked = [
        prompt.format(
            question=question, right=" or ".join(map(_on_one_line, right)), given=_on_one_line(given)
        )
        for right, given in pairs
    ]
    once = list(dict.fromkeys(asked))
    replies = door.sample(once, 0, greedy=True, max_tokens=MAX_TOKENS) if once else []
    said = {
        text: says_yes(reply.greedy.text if reply.greedy else "")
        for text, reply in zip(once, replies, strict=True)
    }
    return Implied(
        verdicts=tuple(float(said[text] is True) for text in asked),
        unread=list(said.values()).count(None),
        cost=reduce(add_costs, (reply.cost or NO_COST for reply in replies), NO_COST),
    )


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
