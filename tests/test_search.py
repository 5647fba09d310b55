"""The search for thresholds: what is chosen at which cost, and what is promised of it."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from knowwhen.evaluation.calibration.budget import Budget
from knowwhen.evaluation.calibration.replays.replay import Array, Outcomes, Replay, Thresholds
from knowwhen.evaluation.calibration.search import best, by_two_stages, for_new, search
from knowwhen.evaluation.calibration.trade_off import on_front, write_trade_off
from knowwhen.evaluation.calibration.verdict import unmet, verdict
from knowwhen.models.errors import SettingsError

FREE = Budget()


def outcomes(quality: Array, retrievals: Array) -> Outcomes:
    return Outcomes(quality, retrievals, 100 * retrievals)


def gate(need: Array, sure: Array) -> Replay:
    """A replay of thresholds on `sure`, where a question is right if it is looked up or needs it not."""
    cuts = np.linspace(-0.0001, 1.0001, 101)
    looked_up = (sure[:, None] < cuts[None, :]).astype(float)
    gated = outcomes(np.where(looked_up, 1.0, 1 - need[:, None]), looked_up)
    ones = np.ones(len(need))
    return Replay(
        [{"threshold": float(c)} for c in cuts], gated, outcomes(1 - need, 0 * ones), outcomes(ones, ones)
    )


def questions(number: int, informed: float, seed: int = 0) -> Replay:
    """Half need a look-up; the score tells so by as much as it is informed."""
    rng = np.random.default_rng(seed)
    need = (rng.random(number) < 0.5).astype(float)
    return gate(need, (1 - informed) * rng.random(number) + informed * (1 - need))


EVERYTHING = np.arange(400)


def means(replay: Replay, column: int) -> tuple[float, float]:
    return replay.gated.quality[:, column].mean(), replay.gated.retrievals[:, column].mean()


@pytest.mark.parametrize("bound", [0.1, 0.3, 0.5])
def test_a_bound_is_kept_and_used(bound: float) -> None:
    replay = questions(400, 0.5)
    quality, retrievals = means(replay, best(replay, EVERYTHING, Budget(max_retrievals=bound)))
    assert 0.96 * bound <= retrievals <= bound
    within = replay.gated.retrievals.mean(axis=0) <= bound
    assert quality >= replay.gated.quality.mean(axis=0)[within].max() - 0.05


def test_a_bound_is_not_used_where_that_is_shown_to_harm() -> None:
    replay = questions(400, 0.5)
    harmful = Outcomes(1 - replay.gated.retrievals, replay.gated.retrievals, replay.gated.tokens)
    worse = Replay(replay.candidates, harmful, replay.always, replay.never)
    assert means(worse, best(worse, EVERYTHING, Budget(max_retrievals=0.5)))[1] < 0.05


def test_without_any_threshold_within_the_bound_the_cheapest_is_taken() -> None:
    replay = questions(400, 0.5)
    dear = Replay(
        replay.candidates,
        Outcomes(replay.gated.quality, replay.gated.retrievals + 1, replay.gated.tokens),
        replay.never,
        replay.always,
    )
    assert means(dear, best(dear, EVERYTHING, Budget(max_retrievals=0.5)))[1] == 1


@pytest.mark.parametrize("target", [0.1, 0.3, 0.5, 0.9])
def test_a_target_is_met_from_either_side(target: float) -> None:
    used = [
        means(replay, best(replay, EVERYTHING, Budget(retrievals=target)))[1]
        for replay in (questions(400, 0.5, seed) for seed in range(20))
    ]
    assert min(used) < target < max(used)
    assert np.abs(np.array(used) - target).max() < 0.02  # the scores are parted in hundredths


def test_a_target_is_met_even_where_retrieving_harms() -> None:
    replay = questions(400, 0.5)
    harmful = Outcomes(1 - replay.gated.retrievals, replay.gated.retrievals, replay.gated.tokens)
    worse = Replay(replay.candidates, harmful, replay.always, replay.never)
    assert means(worse, best(worse, EVERYTHING, Budget(retrievals=0.5)))[1] == pytest.approx(0.5, abs=0.01)


def at_rates(quality_by_rate: Sequence[tuple[float, float]], number: int = 1000) -> Replay:
    """A replay of candidates of which each looks up a share of the questions, with one quality."""
    worth, rates = (np.array(each) for each in zip(*quality_by_rate, strict=True))
    looked_up = (np.arange(number)[:, None] < rates[None, :] * number).astype(float)
    ones = np.ones(number)
    return Replay(
        [{"threshold": float(n)} for n in range(len(rates))],
        outcomes(np.tile(worth, (number, 1)), looked_up),
        outcomes(0 * ones, 0 * ones),
        outcomes(ones, ones),
    )


@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        ([(0.5, 0.300), (0.9, 0.302), (1.0, 0.310)], 1),  # the best of those within a hundredth of 0.3
        ([(0.5, 0.303), (0.5, 0.301), (0.5, 0.298)], 1),  # equally good: the nearest
        ([(1.0, 0.100), (0.5, 0.250), (0.9, 0.400)], 1),  # none comes to it: the nearest
        ([(0.8, 0.200), (0.9, 0.400)], 1),  # equally near: the better
    ],
)
def test_of_thresholds_about_a_target_the_best_is_taken_or_else_the_nearest(
    candidates: list[tuple[float, float]], chosen: int
) -> None:
    assert best(at_rates(candidates), np.arange(1000), Budget(retrievals=0.3)) == chosen


def test_a_target_or_bound_that_no_threshold_meets_is_told() -> None:
    few = at_rates([(0.2, 0.0), (0.4, 0.38), (0.9, 0.9)])
    assert unmet(search(few, Budget(retrievals=0.5)), Budget(retrievals=0.5)) == (
        "No thresholds come near 0.5 retrievals a question; the nearest take 0.38."
    )
    above = Budget(retrievals=2)
    assert unmet(search(few, above), above).endswith("near 2 retrievals a question; the nearest take 0.90.")
    met = Budget(retrievals=0.39)
    assert unmet(search(few, met), met) == ""
    dear = at_rates([(0.4, 0.38), (0.9, 0.9)])
    bound = Budget(max_retrievals=0.3)
    assert unmet(search(dear, bound), bound) == (
        "No thresholds keep to 0.3 retrievals a question; the fewest are 0.38."
    )
    assert unmet(search(few, bound), bound) == unmet(search(few, FREE), FREE) == ""


def test_a_target_and_a_bound_at_once_are_refused() -> None:
    with pytest.raises(ValueError, match="give one of them"):
        Budget(retrievals=0.5, max_retrievals=0.5)


def test_a_price_weighs_what_a_look_up_brings() -> None:
    replay = questions(400, 0.9)  # half of all look-ups bring 1, the others nothing
    assert means(replay, best(replay, EVERYTHING, FREE))[0] == 1
    dear = means(replay, best(replay, EVERYTHING, Budget(retrieval_price=1.1)))
    assert dear[1] == 0
    fair = means(replay, best(replay, EVERYTHING, Budget(retrieval_price=0.3)))
    assert fair[1] == pytest.approx(0.5, abs=0.1) and fair[0] > 0.95
    # A look-up takes 100 tokens.
    assert means(replay, best(replay, EVERYTHING, Budget(token_price=11))) == dear
    assert means(replay, best(replay, EVERYTHING, Budget(token_price=3))) == fair


def test_of_equally_good_thresholds_the_one_that_looks_up_least_is_taken() -> None:
    replay = questions(400, 1.0)
    assert means(replay, best(replay, EVERYTHING, FREE)) == (1.0, (1 - replay.never.quality).mean())


def band(quality: dict[tuple[float, float], float]) -> Replay:
    candidates: list[Thresholds] = [{"alpha": a, "beta": b} for a, b in quality]
    worth = np.tile(np.array(list(quality.values())), (4, 1))
    ones = np.ones(4)
    return Replay(candidates, outcomes(worth, 0 * worth), outcomes(ones, ones), outcomes(ones, ones))


def test_two_stages_find_alpha_at_a_beta_of_a_tenth_and_then_beta() -> None:
    replay = band(
        {
            (0.3, 0.1): 0.6,
            (0.3, 0.2): 0.7,
            (0.3, 0.6): 0.9,  # β is sought up to 0.5
            (0.25, 0.1): 0.8,  # and α among tenths
            (0.5, 0.1): 0.5,
            (0.5, 0.4): 1.0,  # the best jointly
        }
    )
    rows = np.arange(4)
    assert replay.candidates[by_two_stages(replay, rows, FREE)] == {"alpha": 0.3, "beta": 0.2}
    assert replay.candidates[best(replay, rows, FREE)] == {"alpha": 0.5, "beta": 0.4}


def test_what_is_expected_is_measured_on_questions_that_had_no_part_in_the_choice() -> None:
    rng = np.random.default_rng(0)
    luck = (rng.random((200, 2000)) < 0.5).astype(float)  # no candidate is better than another
    half, none = np.full(200, 0.5), np.zeros(200)
    replay = Replay(
        [{"threshold": float(n)} for n in range(2000)],
        outcomes(luck, 0 * luck),
        outcomes(half, none),
        outcomes(half, none),
    )
    found = search(replay, FREE)
    assert found.seen[0] > 0.6  # the best of 2,000 looks good
    assert found.expected.quality.value == pytest.approx(0.5, abs=0.08)
    low, high = found.expected.quality.low, found.expected.quality.high
    assert low is not None and high is not None and low < 0.5 < high
    assert len({tuple(each.values()) for each in found.by_fold}) > 1


def test_the_interval_is_one_for_as_many_new_questions() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for seed in range(200):
        old, new = rng.random((2, 50)) < 0.4
        figure = for_new(old.astype(float), seed)
        assert figure.low is not None and figure.high is not None
        inside += figure.low <= new.mean() <= figure.high
    assert 180 <= inside <= 199  # 95 %; the interval of the mean alone holds 83 %


def test_the_verdict_says_what_the_intervals_show() -> None:
    informed = search(questions(400, 0.8), Budget(max_retrievals=0.5))
    assert verdict(informed, "f1").startswith("The gate gains: f1 +0.")
    blind = search(questions(400, 0.0), Budget(max_retrievals=0.5))
    told = verdict(blind, "f1")
    assert told.startswith("No gain is shown: it does no better than looking as many questions up at random")
    useless = gate(np.zeros(400), np.linspace(0, 1, 400))
    assert "it does no better than never retrieving" in verdict(
        search(useless, Budget(max_retrievals=0.5)), "f1"
    )


def test_fewer_questions_than_folds_are_refused() -> None:
    with pytest.raises(SettingsError, match="4 questions cannot be cut into 5 folds"):
        search(band({(0.3, 0.1): 1.0}), FREE)


def test_the_front_is_what_nothing_beats() -> None:
    quality = np.array([0.5, 0.7, 0.6, 0.7, 0.9, 0.4])
    cost = np.array([0.0, 0.2, 0.2, 0.3, 0.9, 0.0])
    assert on_front(quality, cost).tolist() == [True, True, False, False, True, False]


def test_the_curve_holds_every_threshold_by_its_retrievals(tmp_path: Path) -> None:
    replay = questions(50, 0.5)
    write_trade_off(replay, tmp_path / "curve.csv")
    with (tmp_path / "curve.csv").open() as file:
        never, always, *rows = csv.DictReader(file)
    assert (never["gate"], float(never["quality"])) == ("never", replay.never.quality.mean())
    assert (always["gate"], float(always["retrievals"])) == ("always", 1)
    assert len(rows) == len(replay.candidates)
    retrievals = [float(row["retrievals"]) for row in rows]
    assert retrievals == sorted(retrievals)
    last = rows[-1]
    column = [each["threshold"] for each in replay.candidates].index(float(last["threshold"]))
    assert means(replay, column) == (float(last["quality"]), float(last["retrievals"]))
