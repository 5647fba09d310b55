"""A generated encyclopedia whose facts are known, unknown or known wrongly to the pocket model."""

from knowwhen.almanac.folder import unfinished
from knowwhen.almanac.passages import AlmanacPassage, corpus
from knowwhen.almanac.questions import KINDS, AlmanacQuestion, Quadrant, aliases, knowledge, quadrant
from knowwhen.almanac.splits import SPLITS, Split, facts_of, questions_of, split_of
from knowwhen.almanac.world import (
    CUT_OFF,
    DEFAULT_SEED,
    TODAY,
    Entity,
    Fact,
    Knowledge,
    World,
    default_world,
    make_world,
)
from knowwhen.almanac.writing import AlmanacCounts, world_of, write_almanac, write_files

__all__ = [
    "CUT_OFF",
    "DEFAULT_SEED",
    "KINDS",
    "SPLITS",
    "TODAY",
    "AlmanacCounts",
    "AlmanacPassage",
    "AlmanacQuestion",
    "Entity",
    "Fact",
    "Knowledge",
    "Quadrant",
    "Split",
    "World",
    "aliases",
    "corpus",
    "default_world",
    "facts_of",
    "knowledge",
    "make_world",
    "quadrant",
    "questions_of",
    "split_of",
    "unfinished",
    "world_of",
    "write_almanac",
    "write_files",
]
