"""All figures of one run: quality, cost, routes, and what its scores are worth."""

from collections.abc import Iterable

import numpy as np
from pydantic import BaseModel

from knowwhen.evaluation.figures.columns import Columns, Labels, Mask, columns_of
from knowwhen.evaluation.figures.cost_figures import CostFigures, cost_figures
from knowwhen.evaluation.figures.resampling import mean_of
from knowwhen.evaluation.figures.route_figures import RouteFigures, route_figures
from knowwhen.evaluation.figures.score_figures import BINS, ScoreFigures, score_figures
from knowwhen.evaluation.intervals import Figure
from knowwhen.evaluation.outcome import Outcome
from knowwhen.models.errors import SettingsError

RIGHT = "exact_match"
RIGHT_FROM = 0.5
"""An answer is right if its metric reaches this; most metrics are 0 or 1."""


class Efficiency(BaseModel, frozen=True, extra="forbid"):
    """How much of a metric the questions got for what they cost; None where it cost nothing."""

    a_retrieval: float | None
    """Sum of the metric over sum of the retrievals."""
    a_thousand_tokens: float | None
    """Sum of the metric over sum of the tokens, in and out, times 1,000."""


class GroupFigures(BaseModel, frozen=True, extra="forbid"):
    """Of the finished questions of one number of hops, or of one kind."""

    name: str
    questions: int
    quality: dict[str, Figure]
    """By metric, in [0, 1]."""
    retrieved: Figure
    """Share of the questions with a retrieval or more."""
    retrievals: Figure
    """A question."""
    routes: RouteFigures


class RunFigures(BaseModel, frozen=True, extra="forbid"):
    """Of one method on one dataset. Figures are of the finished questions; None where there are none."""

    questions: int
    """Finished and failed."""
    failed: int
    quality: dict[str, Figure]
    """By metric, in [0, 1]; empty without finished questions."""
    cost: CostFigures | None
    retrieved: Figure | None
    """Share of the questions with a retrieval or more."""
    efficiency: dict[str, Efficiency]
    """By metric."""
    routes: RouteFigures | None
    by_hops: list[GroupFigures]
    """Empty where the dataset does not tell; questions that lack it are in no group."""
    by_kind: list[GroupFigures]
    right: str
    """The metric by which an answer counts as right for `score`."""
    score: ScoreFigures | None
    """The method's score of the whole question against whether its own answer is right; None without one."""
    seed: int
    """Of the intervals."""


def run_figures(
    outcomes: Iterable[Outcome], *, right: str = RIGHT, bins: int = BINS, seed: int = 0
) -> RunFigures:
    """All figures of a run, in one pass over its outcomes, of which the numbers alone are kept.

    Args:
        outcomes: in any order; the figures do not depend on it.
        right: the metric by which an answer counts as right.
        bins: of the reliability table.
        seed: of the intervals.

    Raises:
        KnowwhenError: an outcome does not fit the others.
        SettingsError: `right` is not among the metrics.
    """
    return figures_of(columns_of(outcomes), right=right, bins=bins, seed=seed)


def figures_of(run: Columns, *, right: str = RIGHT, bins: int = BINS, seed: int = 0) -> RunFigures:
    """The same of a run whose outcomes have been read."""
    finished = run.where(~run.failed)
    some = len(finished) > 0
    return RunFigures(
        questions=len(run),
        failed=int(run.failed.sum()),
        quality=_quality(finished, seed) if some else {},
        cost=cost_figures(finished, seed) if some else None,
        retrieved=mean_of(retrieved(finished), seed) if some else None,
        efficiency={name: _efficiency(finished, name) for name in finished.metrics} if some else {},
        routes=route_figures(finished) if some else None,
        by_hops=_groups(finished, finished.hops, seed),
        by_kind=_groups(finished, finished.kinds, seed),
        right=right,
        score=scores_of(finished, is_right(finished, right), bins, seed) if some else None,
        seed=seed,
    )


def retrieved(run: Columns) -> Mask:
    """Whether each question took a retrieval or more."""
    return np.asarray(run.counts["retrievals"] > 0)


def is_right(run: Columns, metric: str) -> Mask:
    """Whether each answer is right.

    Raises:
        SettingsError: there is no such metric.
    """
    if metric not in run.metrics:
        raise SettingsError(
            f"the answers are not scored by {metric!r}; choose one of {', '.join(run.metrics) or 'none'}"
        )
    return np.asarray(run.metrics[metric] >= RIGHT_FROM)


def _quality(run: Columns, seed: int) -> dict[str, Figure]:
    return {name: mean_of(column, seed) for name, column in run.metrics.items()}


def _efficiency(run: Columns, metric: str) -> Efficiency:
    gained = float(run.metrics[metric].sum())
    retrievals = int(run.counts["retrievals"].sum())
    tokens = int(run.counts["input_tokens"].sum() + run.counts["output_tokens"].sum())
    return Efficiency(
        a_retrieval=gained / retrievals if retrievals else None,
        a_thousand_tokens=1000 * gained / tokens if tokens else None,
    )


def _groups(run: Columns, labels: Labels, seed: int) -> list[GroupFigures]:
    places = [(name, np.flatnonzero(labels.codes == code)) for code, name in enumerate(labels.names)]
    return [
        GroupFigures(
            name=name,
            questions=len(group),
            quality=_quality(group, seed),
            retrieved=mean_of(retrieved(group), seed),
            retrievals=mean_of(group.counts["retrievals"], seed),
            routes=route_figures(group),
        )
        for name, group in ((name, run.where(chosen)) for name, chosen in places if len(chosen))
    ]


def scores_of(run: Columns, right: Mask, bins: int = BINS, seed: int = 0) -> ScoreFigures | None:
    """What a run's scores are worth; `right` says of each question whether what they are of is right."""
    if run.score_kind is None:
        return None
    scored = np.isfinite(run.scores)
    return score_figures(
        run.scores[scored],
        right[scored],
        run.score_kind,
        estimators=run.estimators,
        without=int((~scored).sum()),
        bins=bins,
        seed=seed,
    )
