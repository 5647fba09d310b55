"""How exactly retrievals are known: what is said of as many new questions holds as often as it says."""

import numpy as np
import pytest

from knowwhen.evaluation.calibration.budget import Budget
from knowwhen.evaluation.calibration.precision import Precision, precision
from knowwhen.evaluation.calibration.replays.replay import Array, Outcomes, Replay
from knowwhen.evaluation.calibration.search import best, search

TIMES = 300
CUTS = np.linspace(0, 1, 251)


def gate(sure: Array, cost: Array) -> Replay:
    """A replay of thresholds on sureness; a question costs so many look-ups, and is then right."""
    looked_up = sure[:, None] < CUTS[None, :]
    ones = np.ones(len(sure))

    def outcomes(quality: Array, retrievals: Array) -> Outcomes:
        return Outcomes(quality, retrievals, retrievals)

    return Replay(
        [{"threshold": float(cut)} for cut in CUTS],
        outcomes(np.where(looked_up, 1.0, 0.5), np.where(looked_up, cost[:, None], 0.0)),
        outcomes(0.5 * ones, 0 * ones),
        outcomes(ones, cost),
    )


def drawn(number: int, dearest: int, rng: np.random.Generator) -> Replay:
    """New questions; those that are less sure cost more."""
    sure = rng.random(number)
    return gate(sure, 1 + np.floor((1 - sure) * dearest * rng.random(number)))


def told(replay: Replay, budget: Budget) -> tuple[Precision, int]:
    found = search(replay, budget)
    known = precision(found, len(replay.never.quality))
    assert known is not None
    return known, found.column


@pytest.mark.parametrize(
    "budget", [Budget(retrievals=0.3), Budget(retrievals=0.6), Budget(max_retrievals=0.4)]
)
@pytest.mark.parametrize("dearest", [1, 4])
def test_as_many_new_questions_take_what_was_said_19_of_20_times(budget: Budget, dearest: int) -> None:
    rng = np.random.default_rng(dearest)
    inside = 0
    for _ in range(TIMES):
        known, column = told(drawn(200, dearest, rng), budget)
        taken = drawn(200, dearest, rng).gated.retrievals[:, column].mean()
        inside += abs(taken - known.retrievals) <= known.within * known.retrievals
    assert 0.91 * TIMES <= inside <= 0.985 * TIMES


def test_the_number_that_is_named_is_enough_for_15_percent_and_no_more() -> None:
    rng = np.random.default_rng(0)
    budget = Budget(retrievals=0.3)
    number = told(drawn(200, 1, rng), budget)[0].questions
    assert number == pytest.approx(2 * 0.3 * 0.7 * (1.96 / 0.045) ** 2, rel=0.05)
    near = 0
    for _ in range(TIMES):
        column = best(drawn(number, 1, rng), np.arange(number), budget)
        near += abs(drawn(number, 1, rng).gated.retrievals[:, column].mean() - 0.3) <= 0.045
    assert 0.91 * TIMES <= near <= 0.985 * TIMES


def test_the_number_is_named_where_15_percent_are_not_reached() -> None:
    assert str(Precision(retrievals=0.3, within=0.294, questions=797)) == (
        "On as many new questions retrievals can be expected within ±30 % of 0.30, 19 of 20 times; "
        "for ±15 % it takes about 800 to calibrate on and as many new ones."
    )
    assert str(Precision(retrievals=0.5, within=0.08, questions=341)) == (
        "On as many new questions retrievals can be expected within ±8 % of 0.50, 19 of 20 times."
    )


def test_nothing_is_said_of_questions_that_are_never_looked_up() -> None:
    replay = gate(np.full(50, 0.9), np.ones(50))
    assert precision(search(replay, Budget(retrievals=0)), 50) is None
