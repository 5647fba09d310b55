"""Judges of whether two answers to one prompt mean the same; the one here asks a model.

A judge is whatever has a name and takes pairs: a model, as KEQA's discriminator D_s, a cross-encoder, an
entailment model. Scores by different judges do not compare, so a score carries the judge's name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from knowwhen.models.capability import describe
from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.door import Door

PROMPT = """\
Two people were given this prompt:
{prompt}

The first answered: {first}
The second answered: {second}

Do both answers say the same? Reply with yes or no."""

SAME = 0.5
"""Answers at least this alike mean the same."""

LONGEST = 400  # characters of an answer that a model is shown

_END = r"(?![^\W_])"  # of a word, also before the underscores of __yes__
_BEGINS = re.compile(rf"(?:\s*<think>\s*</think>)?[\W_]*(?P<said>yes|no){_END}(?!\W*or{_END}|\s*/)", re.I)
# "Answer: no", {"same": true}
_ENDS = re.compile(rf"[:=][\W_]*(?P<said>yes|no|true|false){_END}[\W_]*$", re.I)


@dataclass(frozen=True)
class Judged:
    """What a judge says.

    Attributes:
        alike: how alike the answers of each pair are, in [0, 1].
        cost: of finding out.
        unread: how many replies said neither yes nor no.
    """

    alike: tuple[float, ...]
    cost: Cost = field(default_factory=NO_COST.copy)
    unread: int = 0


class Judge(Protocol):
    """Says of pairs of answers to one prompt how alike in meaning they are."""

    @property
    def name(self) -> str:
        """What tells this judge from others."""

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        """Judge all pairs, in their order."""


class ModelJudge:
    """Asks a model about all pairs in one batch; whatever it replies but yes counts as no.

    A local model takes the batch at once; any other is sent as many requests at a time as its door lets
    through. An answer stands on one line, and a long one keeps its beginning and its end.

    Args:
        door: to the model.
        prompt: with the places `{prompt}`, `{first}` and `{second}`.
    """

    def __init__(self, door: Door, prompt: str = PROMPT) -> None:
        self.name = describe(door.model)
        self._door = door
        self._prompt = prompt

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        """Judge all pairs; 1 for the same, 0 for others.

        Raises:
            ModelError: the model failed, also when asked again.
        """
        asked = [
            self._prompt.format(prompt=prompt, first=_on_one_line(first), second=_on_one_line(second))
            for first, second in pairs
        ]
        cost: Cost = NO_COST
        verdicts = []
        for evidence in self._door.sample(asked, 0, greedy=True, max_tokens=8):
            verdicts.append(says_yes(evidence.greedy.text if evidence.greedy else ""))
            cost = add_costs(cost, evidence.cost or NO_COST)
        alike = tuple(float(verdict is True) for verdict in verdicts)
        return Judged(alike, cost, verdicts.count(None))


def says_yes(reply: str) -> bool | None:
    """Whether a reply says yes, or no: by its first word, or by its last behind a colon; None if neither."""
    said = _BEGINS.match(reply) or _ENDS.search(reply)
    return said["said"].lower() in ("yes", "true") if said else None


def _on_one_line(answer: str) -> str:
    text = " ".join(answer.split())
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"
