"""Questions with their gold answers, from the field's datasets and from the almanac."""

from knowwhen.evaluation.datasets.almanac import ALMANACS, almanac_questions
from knowwhen.evaluation.datasets.draw import drawn
from knowwhen.evaluation.datasets.forms import KINDS
from knowwhen.evaluation.datasets.gold import GoldQuestion
from knowwhen.evaluation.datasets.reading import kind_of, read_dataset
from knowwhen.evaluation.datasets.skipped import Skipped

__all__ = [
    "ALMANACS",
    "KINDS",
    "GoldQuestion",
    "Skipped",
    "almanac_questions",
    "drawn",
    "kind_of",
    "read_dataset",
]
