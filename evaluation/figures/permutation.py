"""Whether two methods differ on the same questions: the paired permutation test, and Holm's correction."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, permutation_test

from knowwhen.evaluation.figures.resampling import BATCH
from knowwhen.models.errors import SettingsError

Floats = NDArray[np.float64]
PERMUTATIONS = 9999
MANY = 2000  # questions that differ, beyond which permutations take minutes and change nothing


def paired_p(one: Sequence[float] | Floats, other: Sequence[float] | Floats, seed: int = 0) -> float:
    """The two-sided p of a difference of means as large as this if the two were exchangeable a question.

    Exact where at most 13 questions differ (2¹³ permutations), else by 9,999 random ones, whose smallest p is
    2/10,000; where more than `MANY` do, by the normal distribution that the permutations then have. Questions
    on which both are equal cannot change it and are left out.

    Args:
        one: a metric of one method, a number a question.
        other: of another method, on the same questions in the same order.
        seed: of the permutations.

    Raises:
        SettingsError: they are not of the same questions, or there is none.
    """
    first, second = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if first.shape != second.shape or not len(first):
        raise SettingsError(
            f"two methods are compared on the same questions, and these have {len(first)} and {len(second)}"
        )
    differing = first != second
    if differing.sum() < 2:  # scipy wants two; one difference can be turned either way, so p is 1
        return 1.0
    if differing.sum() > MANY:
        differences = first - second
        return float(2 * norm.sf(abs(differences.sum()) / np.sqrt(differences @ differences)))

    def statistic(one: Floats, other: Floats, axis: int = -1) -> Floats:
        return np.asarray(one.sum(axis=axis) - other.sum(axis=axis))

    found = permutation_test(
        (first[differing], second[differing]),
        statistic,
        permutation_type="samples",
        n_resamples=PERMUTATIONS,
        batch=max(1, BATCH // int(differing.sum())),
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrects for having tested so often (Holm 1979).

    If nothing differs, one or more of a family is below .05 in 5 % of families at most.

    Args:
        p_values: of all tests of the family, in [0, 1].

    Returns:
        As many, in their order.
    """
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(order))
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(
        1, np.maximum.accumulate(np.asarray(p_values, dtype=float)[order] * factors)
    )
    return [float(p) for p in corrected]
