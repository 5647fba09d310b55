"""Judges of whether two answers to one prompt mean the same; the one here asks a model.

A judge is whatever has a name and takes pairs: a model, as KEQA's discriminator D_s, a cross-encoder, an
entailment model. Scores by different judges do not compare, so a score carries the judge's name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from langchain_core.runnables.config import ContextThreadPoolExecutor

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


@dataclass(frozen=True)
class Judged:
    """How alike the answers of each pair are, in [0, 1], and what it cost to find out."""

    alike: tuple[float, ...]
    cost: Cost = field(default_factory=NO_COST.copy)


class Judge(Protocol):
    """Says of pairs of answers to one prompt how alike in meaning they are."""

    @property
    def name(self) -> str:
        """What tells this judge from others."""

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        """Judge all pairs, in their order."""


class ModelJudge:
    """Asks a model about each pair, several at a time; whatever it answers but yes counts as no.

    Args:
        door: to the model.
        prompt: with the places `{prompt}`, `{first}` and `{second}`.
    """

    def __init__(self, door: Door, prompt: str = PROMPT) -> None:
        self.name = describe(door.model)
        self._door = door
        self._prompt = prompt

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        """Judge all pairs; 1 for the same, 0 for others."""

        def ask(pair: tuple[str, str]) -> tuple[float, Cost]:
            asked = self._prompt.format(prompt=prompt, first=pair[0], second=pair[1])
            reply = self._door.ask(asked, temperature=0, max_tokens=8)
            return float(re.match(r"\W*yes\b", reply.text, re.IGNORECASE) is not None), reply.cost

        with ContextThreadPoolExecutor(self._door.max_concurrency) as pool:
            verdicts = list(pool.map(ask, pairs))
        cost: Cost = NO_COST
        for _, each in verdicts:
            cost = add_costs(cost, each)
        return Judged(tuple(alike for alike, _ in verdicts), cost)
