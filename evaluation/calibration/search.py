"""Which thresholds give the best answers at a cost that the user states, and what is to be expected of them.

The best of many candidates looks better than it is, on the questions it was chosen by. So what is expected is
measured on questions that had no part in the choice: in each of several folds, thresholds chosen on the rest
are held against the fold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel

from knowwhen.evaluation.calibration.budget import INDISTINCT, Budget
from knowwhen.evaluation.calibration.replays.replay import Array, Flags, Outcomes, Places, Replay, Thresholds
from knowwhen.evaluation.figures.resampling import draws, mean_of, with_interval
from knowwhen.evaluation.intervals import Figure
from knowwhen.models.errors import SettingsError

FOLDS = 5
SAME = 1e-9  # qualities that differ by less are one
SHOWN = 1.96  # standard errors from which a difference is one, at 95 %

Choose = Callable[[Replay, Places, Budget], int]
"""Picks a candidate by the questions in some rows."""


class Expected(BaseModel, frozen=True, extra="forbid"):
    """What as many new questions can be expected to give; means, each with a 95 % interval.

    The quality is that of held-out questions, as thresholds are chosen for it; what is spent is what these
    thresholds spend.
    """

    quality: Figure
    retrievals: Figure
    tokens: Figure


class Gain(BaseModel, frozen=True, extra="forbid"):
    """How much better than without a gate, question by question, with a 95 % interval."""

    over_never: Figure
    over_always: Figure
    over_chance: Figure | None
    """Over looking as many questions up, drawn at random; None where the gate looks up more than that can."""
    retrievals_saved: Figure
    """A question, against always."""


@dataclass(frozen=True)
class Found:
    """The thresholds that were chosen, and how well thresholds chosen so do."""

    thresholds: Thresholds
    column: int
    """Their place among the candidates."""
    seen: tuple[float, float, float]
    """Mean quality, retrievals and tokens on the very questions that they were chosen by."""
    expected: Expected
    spread: float
    """Standard deviation of a question's retrievals."""
    gain: Gain
    by_fold: list[Thresholds]
    """Chosen without each fold."""


def best(replay: Replay, rows: Places, budget: Budget) -> int:
    """The candidate to choose by the questions in some rows.

    With a target: the one of most worth among those that come to it but for `INDISTINCT`; where none
    does, the nearest.

    With a price: the one of most worth within the bound; of equals the one that looks up least.

    With a bound alone, retrieving up to it costs nothing, and the best of a thousand candidates is mostly
    luck: on 250 questions its retrievals were anything from a tenth of the bound to all of it. So of all that
    the questions do not show to be worse than the best (95 %, paired) those that use the bound best, but for
    `INDISTINCT`, are looked at, and the best of these is taken.

    Where none is within the bound, the one that looks up least.
    """
    return best_of(replay, rows, budget, np.arange(len(replay.candidates)))


def best_of(replay: Replay, rows: Places, budget: Budget, columns: Places) -> int:
    """`best` of some candidates."""
    at = np.ix_(rows, columns)
    quality, retrievals, tokens = (
        each[at].mean(axis=0) for each in (replay.gated.quality, replay.gated.retrievals, replay.gated.tokens)
    )
    within = budget.allows(retrievals)
    if not within.any():
        return int(columns[np.argmin(retrievals)])
    worth = np.where(within, budget.worth(quality, retrievals, tokens), -np.inf)
    if not budget.priced and budget.max_retrievals is not None:
        differences = (
            replay.gated.quality[rows, columns[np.argmax(worth)]][:, None] - replay.gated.quality[at]
        )
        error = (
            differences.std(axis=0, ddof=1) / len(rows) ** 0.5 if len(rows) > 1 else np.zeros(len(columns))
        )
        as_good = within & (differences.mean(axis=0) <= SHOWN * error + SAME)
        uses = np.where(as_good, retrievals, -np.inf)
        worth = np.where(uses >= (1 - INDISTINCT) * uses.max(), worth, -np.inf)
    good = worth >= worth.max() - SAME
    return int(columns[np.argmin(np.where(good, budget.strays(retrievals), np.inf))])


def by_two_stages(replay: Replay, rows: Places, budget: Budget) -> int:
    """Self-DC's way (section 6.1): α of 0.1, 0.2, … 0.9 at β = 0.1, then β of 0.1, 0.2, … 0.5 at that α."""
    alpha = np.array([each["alpha"] for each in replay.candidates])
    beta = np.array([each["beta"] for each in replay.candidates])
    tenths = np.round(np.arange(1, 10) / 10, 9)
    first = best_of(replay, rows, budget, np.flatnonzero(np.isclose(beta, 0.1) & _one_of(alpha, tenths)))
    second = np.isclose(alpha, alpha[first]) & _one_of(beta, tenths[:5])
    return best_of(replay, rows, budget, np.flatnonzero(second))


def search(replay: Replay, budget: Budget, choose: Choose = best, folds: int = FOLDS, seed: int = 0) -> Found:
    """Choose thresholds on all questions, and measure the choice by cross-validation.

    Args:
        replay: of all questions under all candidates.
        budget: what may be spent.
        choose: the rule.
        folds: how many parts the questions are cut into, at random.
        seed: of the folds and the intervals.

    Raises:
        SettingsError: there are fewer questions than folds, or fewer than two folds.
    """
    number = len(replay.never.quality)
    if not 2 <= folds <= number:
        raise SettingsError(
            f"{number} questions cannot be cut into {folds} folds; give more, or 2 folds or more"
        )
    everything = np.arange(number)
    column = choose(replay, everything, budget)
    fold_of = np.random.default_rng(seed).permutation(everything) % folds
    chosen = [choose(replay, np.flatnonzero(fold_of != fold), budget) for fold in range(folds)]
    held_out = _at(replay.gated, np.array(chosen)[fold_of])
    return Found(
        thresholds=replay.candidates[column],
        column=column,
        seen=(
            float(replay.gated.quality[:, column].mean()),
            float(replay.gated.retrievals[:, column].mean()),
            float(replay.gated.tokens[:, column].mean()),
        ),
        expected=Expected(
            quality=within(for_new(held_out.quality, seed), 1.0),
            # Not of held-out questions: each fold's thresholds spend something else, and these are used.
            retrievals=within(for_new(replay.gated.retrievals[:, column], seed), np.inf),
            tokens=within(for_new(replay.gated.tokens[:, column], seed), np.inf),
        ),
        spread=float(replay.gated.retrievals[:, column].std(ddof=1)),
        gain=_gain(held_out, replay, seed),
        by_fold=[replay.candidates[each] for each in chosen],
    )


def for_new(values: Array, seed: int) -> Figure:
    """The mean of these questions, and the interval that the mean of as many new ones falls into, at 95 %.

    Both means vary, so it is wider, by the root of 2, than the interval of the mean alone.
    """
    mean = float(values.mean())
    if len(values) < 2:
        return Figure(value=mean, low=None, high=None)
    distinct, counts = np.unique(values, return_counts=True)
    rng = np.random.default_rng(seed)
    one, other = (np.concatenate([drawn @ distinct for drawn in draws(counts, rng)]) for _ in range(2))
    return with_interval(mean, mean + (one - other) / len(values))


def within(figure: Figure, most: float) -> Figure:
    """A figure whose interval ends at 0 and at the most that there can be."""
    if figure.low is None or figure.high is None:
        return figure
    return figure.model_copy(update={"low": max(0.0, figure.low), "high": min(most, figure.high)})


def _gain(held_out: Outcomes, replay: Replay, seed: int) -> Gain:
    never, always = replay.never, replay.always
    rate = held_out.retrievals.mean() / always.retrievals.mean() if always.retrievals.mean() else 0.0
    by_chance = never.quality + rate * (always.quality - never.quality)
    return Gain(
        over_never=mean_of(held_out.quality - never.quality, seed),
        over_always=mean_of(held_out.quality - always.quality, seed),
        over_chance=mean_of(held_out.quality - by_chance, seed) if 0 < rate <= 1 else None,
        retrievals_saved=mean_of(always.retrievals - held_out.retrievals, seed),
    )


def _at(outcomes: Outcomes, columns: Places) -> Outcomes:
    """Each question under a candidate of its own."""
    rows = np.arange(len(columns))
    return Outcomes(
        outcomes.quality[rows, columns], outcomes.retrievals[rows, columns], outcomes.tokens[rows, columns]
    )


def _one_of(values: Array, allowed: Sequence[float] | Array) -> Flags:
    found: Flags = np.isclose(values[:, None], np.asarray(allowed)[None, :]).any(axis=1)
    return found
