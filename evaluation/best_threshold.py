"""A threshold for a gate, from scores of answers that are known to be right or wrong."""

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import roc_curve

from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.score import Kind


def best_threshold(values: Sequence[float], right: Sequence[bool], kind: Kind) -> float:
    """The threshold that tells right answers from wrong ones best: Youden's J is largest there.

    J is the share of the right answers that are sure, less the share of the wrong ones that are. The
    threshold is put in the middle of the gap between the two scores it parts, so that it does not sit on one.

    Args:
        values: scores of one estimator, finite.
        right: whether each answer is right.
        kind: which way the scores point.

    Raises:
        SettingsError: all answers are right, or all wrong: nothing is to be told apart.
    """
    if len(set(map(bool, right))) < 2:
        raise SettingsError("a threshold needs right and wrong answers, and there is only one kind; ask more")
    sureness = np.asarray(values) if kind == "confidence" else -np.asarray(values)
    wrong_sure, right_sure, cuts = roc_curve(right, sureness, drop_intermediate=False)
    at = int(np.argmax(right_sure[1:] - wrong_sure[1:])) + 1  # the first cut is infinite
    below = sureness[sureness < cuts[at]]
    cut = (cuts[at] + below.max()) / 2 if below.size else cuts[at]
    return float(cut if kind == "confidence" else -cut)
