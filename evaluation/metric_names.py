"""The metrics by name, and which of them a dataset's own scorer reports."""

import re
from collections.abc import Callable, Mapping, Sequence

from knowwhen.evaluation.metrics import contains, exact_match, f1
from knowwhen.evaluation.official_metrics import (
    has_answer,
    iirc_exact_match,
    iirc_f1,
    nq_exact_match,
    popqa_accuracy,
    squad2_f1,
    squad_f1,
    subspan_exact_match,
    trivia_exact_match,
    trivia_f1,
)
from knowwhen.evaluation.yes_or_no import yes_no_accuracy

Metric = Callable[[str, Sequence[str]], float]
"""Of a prediction and the gold answers, in [0, 1]."""

METRICS: Mapping[str, Metric] = {
    each.__name__: each
    for each in (
        exact_match,
        f1,
        contains,
        yes_no_accuracy,
        squad_f1,
        squad2_f1,
        trivia_exact_match,
        trivia_f1,
        nq_exact_match,
        has_answer,
        popqa_accuracy,
        subspan_exact_match,
        iirc_exact_match,
        iirc_f1,
    )
}

USUAL = ("exact_match", "f1", "contains")
"""What the methods' papers report on every dataset, and all that is defined for one without a scorer."""

JUDGE = "judge"
"""No function of the two texts: a model says it (`evaluation/judge_accuracy.py`)."""

_OFFICIAL: Mapping[str, tuple[str, ...]] = {
    "hotpotqa": ("exact_match", "f1"),
    "2wikimultihopqa": ("exact_match", "f1"),
    "musique": ("exact_match", "squad2_f1"),
    "strategyqa": ("yes_no_accuracy",),
    "bamboogle": ("exact_match",),
    "iirc": ("iirc_exact_match", "iirc_f1"),
    "nq": ("nq_exact_match",),
    "nqopen": ("nq_exact_match",),
    "nqoracle": ("subspan_exact_match",),
    "triviaqa": ("trivia_exact_match", "trivia_f1"),
    "squad": ("exact_match", "squad2_f1"),
    "popqa": ("popqa_accuracy",),
    "webquestions": ("nq_exact_match",),
    "freshqa": (JUDGE,),
}


def official(kind: str) -> tuple[str, ...]:
    """Names of the metrics that a dataset's own scorer reports.

    Args:
        kind: the dataset's name: `hotpotqa`, `nq-oracle`, …; case and signs do not count.

    Returns:
        Keys of `METRICS`, or `JUDGE`; `USUAL` for a dataset without a scorer of its own.
    """
    return _OFFICIAL.get(re.sub(r"[\W_]", "", kind.lower()), USUAL)
