"""The paired permutation test, against all permutations counted out, and Holm's correction by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from knowwhen.evaluation.figures import permutation
from knowwhen.evaluation.figures.permutation import holm, paired_p
from knowwhen.models.errors import SettingsError


def counted_out(one: list[float], other: list[float]) -> float:
    """Twice the smaller share of sign changes with a sum at least, or at most, as large; 1 at most."""
    differences = np.subtract(one, other)
    seen = differences.sum()
    sums = np.array([(differences * signs).sum() for signs in product((1, -1), repeat=len(differences))])
    slack = 1e-9
    return float(min(1, 2 * min((sums >= seen - slack).mean(), (sums <= seen + slack).mean())))


values = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.4, 1.0])), min_size=1, max_size=8
)


@given(values)
def test_few_questions_are_tested_exactly(pairs: list[tuple[float, float]]) -> None:
    one, other = map(list, zip(*pairs, strict=True))
    assert paired_p(one, other) == pytest.approx(counted_out(one, other))
    assert paired_p(other, one) == pytest.approx(paired_p(one, other))


def test_cases_by_hand() -> None:
    assert paired_p([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]) == pytest.approx(2 / 32)
    assert paired_p([1, 1, 1, 0], [0, 0, 0, 1]) == pytest.approx(2 * 5 / 16)
    assert paired_p([1, 0, 1], [1, 0, 1]) == 1
    assert paired_p([1, 0], [0, 0]) == 1


def test_many_questions_are_tested_by_random_permutations() -> None:
    rng = np.random.default_rng(0)
    one = rng.random(200)
    other = one + rng.normal(0.03, 0.2, 200)
    found = paired_p(one, other)
    signs = rng.choice([-1, 1], size=(20_000, 200))
    sums = np.abs(signs @ (one - other))
    expected = float((sums >= abs((one - other).sum())).mean())
    assert found == pytest.approx(expected, abs=0.02)
    assert found == pytest.approx(ttest_rel(one, other).pvalue, abs=0.02)  # of many, nearly the same
    assert paired_p(one, other) == found
    assert paired_p(one + 1, one) == pytest.approx(2 / 10_000)


@pytest.mark.parametrize("gain", [0.0, 0.03, 0.05])
def test_very_many_questions_have_the_p_that_permutations_would_give(
    monkeypatch: pytest.MonkeyPatch, gain: float
) -> None:
    rng = np.random.default_rng(1)
    one = rng.random(400)
    other = one + rng.normal(gain, 0.3, 400)
    by_permutations = paired_p(one, other)
    monkeypatch.setattr(permutation, "MANY", 399)
    found = paired_p(one, other)
    assert found != by_permutations
    assert found == pytest.approx(by_permutations, abs=0.015)


def test_equal_questions_change_nothing() -> None:
    one, other = [1.0, 1, 1, 0, 1, 1], [0.0, 0, 0, 1, 0, 0]
    same = [1.0, 0.0] * 30
    assert paired_p([*one, *same], [*other, *same]) == pytest.approx(counted_out(one, other))


@pytest.mark.parametrize(("one", "other"), [([1.0], [1.0, 0.0]), ([], [])])
def test_methods_on_different_questions_are_refused(one: list[float], other: list[float]) -> None:
    with pytest.raises(SettingsError, match="same questions"):
        paired_p(one, other)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.02, 0.02, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_keeps_the_order_and_lies_between_the_raw_p_and_bonferronis(p_values: list[float]) -> None:
    found = holm(p_values)
    for raw, corrected in zip(p_values, found, strict=True):
        assert raw <= corrected <= min(1, raw * len(p_values)) + 1e-12 or corrected <= max(found)
        assert corrected >= raw
    assert min(found) == pytest.approx(min(1, min(p_values) * len(p_values)))
    by_raw = [corrected for _, corrected in sorted(zip(p_values, found, strict=True))]
    assert by_raw == sorted(by_raw)
