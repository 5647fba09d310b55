"""The almanac's questions, each split a dataset."""

from collections.abc import Iterator
from pathlib import Path

from knowwhen.almanac.questions import quadrant
from knowwhen.almanac.splits import SPLITS, Split, questions_of
from knowwhen.almanac.world import World
from knowwhen.evaluation.datasets.gold import GoldQuestion

ALMANACS: dict[str | Path, Split] = {"almanac": "train", **{f"almanac:{split}": split for split in SPLITS}}
"""Datasets of the world that the pocket model has read of, by name."""


def almanac_questions(world: World, split: Split) -> Iterator[GoldQuestion]:
    """A world's questions of one split, with the ids that they have in its files."""
    for number, asked in enumerate(questions_of(world, split)):
        metadata = {"kind": asked.kind, "hops": asked.hops, "quadrant": quadrant(asked, world)}
        yield GoldQuestion(f"almanac-{world.seed}-{split}-{number}", asked.question, asked.answers, metadata)
