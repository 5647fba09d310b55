"""A gate's threshold from right and wrong answers."""

import pytest

from knowwhen.evaluation.best_threshold import best_threshold
from knowwhen.models.errors import SettingsError


def test_it_lies_between_what_it_parts() -> None:
    right = [True, True, False, False]
    assert best_threshold([0.9, 0.8, 0.4, 0.1], right, "confidence") == pytest.approx(0.6)
    assert best_threshold([-6.0, -5.0, -2.0, 1.0], right, "uncertainty") == pytest.approx(-3.5)


def test_of_overlapping_scores_it_parts_most() -> None:
    values = [0.9, 0.7, 0.5, 0.6, 0.2, 0.1]
    right = [True, True, True, False, False, False]
    assert best_threshold(values, right, "confidence") in (pytest.approx(0.65), pytest.approx(0.35))


def test_wrong_answers_that_are_surest_leave_it_where_it_errs_least() -> None:
    assert best_threshold([1.0, 2.0, 3.0], [False, True, True], "uncertainty") == pytest.approx(3.0)


@pytest.mark.parametrize("right", [[True, True], [False, False], []])
def test_one_kind_of_answer_gives_none(right: list[bool]) -> None:
    with pytest.raises(SettingsError, match="right and wrong"):
        best_threshold([0.5] * len(right), right, "confidence")
