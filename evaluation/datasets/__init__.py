"""Questions with their gold answers, from the field's datasets and from the almanac."""

from knowwhen.evaluation.datasets.reading import (
    ALMANACS,
    GoldQuestion,
    almanac_questions,
    drawn,
    read_dataset,
)
from knowwhen.evaluation.datasets.skipped import Skipped

__all__ = ["ALMANACS", "GoldQuestion", "Skipped", "almanac_questions", "drawn", "read_dataset"]
