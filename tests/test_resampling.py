"""Intervals of means: equal to scipy's bootstrap, whatever the order and the batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from knowwhen.evaluation.figures import resampling
from knowwhen.evaluation.figures.resampling import mean_of, optional_mean, weighted_means

RNG = np.random.default_rng(7)


@pytest.mark.parametrize(
    "values",
    [
        RNG.integers(0, 2, 300),
        RNG.integers(0, 12, 80) / 11,
        RNG.exponential(3.0, 200),
        np.array([True, False, False]),
    ],
    ids=["zero or one", "few values", "all different", "three"],
)
def test_the_interval_is_that_of_scipys_bootstrap(values: np.ndarray) -> None:
    mine = mean_of(values)
    found = bootstrap([values.astype(float)], np.mean, n_resamples=2000, method="percentile", rng=1)
    low, high = found.confidence_interval
    assert mine.value == pytest.approx(values.mean())
    assert [mine.low, mine.high] == pytest.approx([low, high], abs=0.06 * (high - low))


def test_the_interval_of_a_weighted_difference_is_that_of_scipys_bootstrap() -> None:
    samples, weights = (RNG.exponential(3.0, 200), RNG.integers(0, 2, 80).astype(float)), (0.25, -2.0)
    mine = weighted_means(samples, weights)

    def statistic(one: np.ndarray, other: np.ndarray, axis: int = -1) -> np.ndarray:
        return weights[0] * one.mean(axis=axis) + weights[1] * other.mean(axis=axis)

    found = bootstrap(samples, statistic, n_resamples=2000, method="percentile", rng=1)
    low, high = found.confidence_interval
    assert mine.value == pytest.approx(float(statistic(*samples)))
    assert [mine.low, mine.high] == pytest.approx([low, high], abs=0.06 * (high - low))


def test_a_mean_of_ones_and_zeros_has_the_binomial_interval() -> None:
    found = mean_of([1] * 30 + [0] * 70)
    assert (found.low, found.high) == pytest.approx((0.21, 0.39), abs=0.011)  # quantiles of Bin(100, .3)/100


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0, 7.5]), min_size=2, max_size=30), st.randoms())
def test_an_interval_holds_the_mean_and_forgets_the_order(values: list[float], random: object) -> None:
    found = mean_of(values)
    assert found.low is not None and found.high is not None
    assert min(values) <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= max(values)
    random.shuffle(values)  # type: ignore[attr-defined]
    assert mean_of(values) == found


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    assert mean_of([0.5]).model_dump() == {"value": 0.5, "low": None, "high": None}
    assert optional_mean([]) is None
    assert optional_mean([1.0, 1.0]) == mean_of([1.0, 1.0])


def test_small_batches_draw_as_many_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    values = RNG.normal(size=50)
    drawn = list(resampling.draws(np.ones(50, dtype=np.int64), np.random.default_rng(0)))
    assert [each.shape for each in drawn] == [(2000, 50)]
    whole = mean_of(values)
    monkeypatch.setattr(resampling, "BATCH", 333 * 50)
    drawn = list(resampling.draws(np.ones(50, dtype=np.int64), np.random.default_rng(0)))
    assert [len(each) for each in drawn] == [333] * 6 + [2]
    assert {float(row.sum()) for each in drawn for row in each} == {50.0}
    assert mean_of(values) == whole


def test_many_different_values_have_the_same_interval_without_drawing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = RNG.exponential(3.0, 400)
    drawn = mean_of(values)
    monkeypatch.setattr(resampling, "MANY", 399)
    found = mean_of(values)
    assert found != drawn
    assert found.low is not None and found.high is not None
    assert drawn.low is not None and drawn.high is not None
    width = drawn.high - drawn.low
    assert [found.low, found.high] == pytest.approx([drawn.low, drawn.high], abs=0.08 * width)
