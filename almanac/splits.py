"""Train, calibration and test: split by fact, so that no fact is in two of them.

A question belongs to a split when all its facts do; one whose facts are in several is in none.
"""

import random
from collections.abc import Iterator
from typing import Literal, get_args
from zlib import crc32

from knowwhen.almanac.questions import KINDS, AlmanacQuestion, Asker
from knowwhen.almanac.world import Fact, World

Split = Literal["train", "calibration", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
SHARES: dict[Split, float] = {"train": 0.5, "calibration": 0.2, "test": 0.3}
COUNTS: dict[Split, int] = {"train": 200, "calibration": 100, "test": 150}  # of each kind, at most


def split_of(key: tuple[str, str], seed: int) -> Split:
    """The split of a fact, given its subject's id and its relation."""
    place = crc32(f"{seed}/{key[0]}/{key[1]}".encode()) / 2**32
    for split, share in SHARES.items():
        if place < share:
            return split
        place -= share
    return "test"


def facts_of(world: World, split: Split, at_cut_off: bool = False) -> list[Fact]:
    """The facts of one split, today's or those of the cut-off."""
    facts = world.then if at_cut_off else world.now
    return [fact for key, fact in facts.items() if split_of(key, world.seed) == split]


def questions_of(
    world: World, split: Split, counts: dict[Split, int] | None = None
) -> Iterator[AlmanacQuestion]:
    """The questions of a split, kind by kind; the test split's are in wordings that nothing is trained on."""
    rng = random.Random(f"questions {world.seed} {split}")
    asker = Asker(world, rng, facts_of(world, split), held_out=split == "test")
    for kind in KINDS:
        yield from asker.many(kind, (counts or COUNTS)[split] * (3 if kind == "one_hop" else 1))
