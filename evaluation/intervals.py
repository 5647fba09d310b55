"""A mean with its 95 % interval, by the bootstrap."""

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel
from scipy.stats import bootstrap

RESAMPLES = 2000
BATCH = 2_000_000  # numbers drawn at a time, 16 MB


class Figure(BaseModel, frozen=True, extra="forbid"):
    """A number and the percentile interval that 95 % of its resamples fall into."""

    value: float
    low: float | None
    """None, as `high` is, where a sample has fewer than two values."""
    high: float | None


def weighted_means(samples: Sequence[Sequence[float]], weights: Sequence[float], seed: int = 0) -> Figure:
    """The weighted sum of the means of independent samples, such as a mean or the difference of two.

    Args:
        samples: one or more, none of them empty; each is resampled by itself.
        weights: of their means; (1,) for a mean, (1, -1) for a difference.
        seed: of the resamples.
    """

    def statistic(*drawn: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", axis: int = -1) -> object:
        return sum(weight * each.mean(axis=axis) for weight, each in zip(weights, drawn, strict=True))

    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    value = float(sum(weight * each.mean() for weight, each in zip(weights, arrays, strict=True)))
    if min(map(len, arrays)) < 2:
        return Figure(value=value, low=None, high=None)
    found = bootstrap(
        arrays,
        statistic,
        n_resamples=RESAMPLES,
        batch=max(1, BATCH // max(map(len, arrays))),
        method="percentile",
        rng=seed,
    ).confidence_interval
    return Figure(value=value, low=float(found.low), high=float(found.high))
