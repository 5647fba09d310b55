"""Some questions of a dataset, drawn at random."""

import hashlib
import heapq
from collections.abc import Iterable
from itertools import pairwise

from knowwhen.evaluation.datasets.gold import GoldQuestion
from knowwhen.models.errors import KnowwhenError


def drawn(questions: Iterable[GoldQuestion], limit: int, seed: int) -> list[GoldQuestion]:
    """At most `limit` questions, evenly at random, in the order in which they came.

    What is drawn depends on the seed and the ids alone, and a smaller draw is part of every larger one.

    Raises:
        KnowwhenError: two of them have one id.
    """

    def lot(numbered: tuple[int, GoldQuestion]) -> bytes:
        return hashlib.sha256(f"{seed}/{numbered[1].id}".encode()).digest()

    chosen = heapq.nsmallest(limit, enumerate(questions, start=1), key=lot)
    for (first, one), (second, other) in pairwise(chosen):  # equal ids draw equal lots
        if one.id == other.id:
            raise KnowwhenError(
                f"questions {first} and {second} both have the id {one.id!r}; give each its own"
            )
    return [question for _, question in sorted(chosen, key=lambda numbered: numbered[0])]
