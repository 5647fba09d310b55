"""Several methods on the same questions: their figures, their differences, and who retrieved when needed."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import combinations

import numpy as np
from pydantic import BaseModel

from knowwhen.evaluation.figures.columns import Columns, Labels, columns_of
from knowwhen.evaluation.figures.permutation import holm, paired_p
from knowwhen.evaluation.figures.resampling import mean_of
from knowwhen.evaluation.figures.retrieval_need import (
    BoundaryFigures,
    NeedFigures,
    NeedGroup,
    boundary_figures,
    need_figures,
    need_groups,
    needs,
)
from knowwhen.evaluation.figures.run_figures import (
    RIGHT,
    RunFigures,
    figures_of,
    is_right,
    retrieved,
    scores_of,
)
from knowwhen.evaluation.figures.score_figures import BINS, ScoreFigures
from knowwhen.evaluation.intervals import Figure
from knowwhen.evaluation.outcome import Outcome
from knowwhen.models.errors import KnowwhenError, SettingsError

NEVER = "direct"
ALWAYS = "retrieve_then_read"


class Difference(BaseModel, frozen=True, extra="forbid"):
    """Of two methods in one metric, question by question."""

    metric: str
    one: str
    other: str
    difference: Figure
    """Mean of one less mean of the other, in [-1, 1]."""
    p: float
    """Of the paired permutation test, two-sided."""
    p_holm: float
    """Corrected by Holm for all pairs in this metric."""


class Comparison(BaseModel, frozen=True, extra="forbid"):
    """Of several methods, on the questions that all of them finished."""

    questions: int
    left_out: int
    """Questions that a method did not finish, or was not asked; they are in no figure here."""
    failed: dict[str, int]
    """By method, of all its questions."""
    runs: dict[str, RunFigures]
    """By method, in the order given."""
    differences: list[Difference]
    """Of all pairs, by metric."""
    need: NeedFigures | None
    """None without both reference runs."""
    boundary: dict[str, BoundaryFigures]
    """By method; empty without both reference runs."""
    need_by_hops: list[NeedGroup]
    """Empty without both reference runs, or where the dataset does not tell."""
    need_by_kind: list[NeedGroup]
    scores_of_knowing: dict[str, ScoreFigures]
    """By method with scores: against whether the answer without retrieval is right, which is what a gate
    is to know. Empty without the run that never retrieves."""


def compare(
    runs: Mapping[str, Iterable[Outcome]],
    *,
    never: str = NEVER,
    always: str = ALWAYS,
    right: str = RIGHT,
    bins: int = BINS,
    seed: int = 0,
) -> Comparison:
    """Compare runs, in one pass over each, of which the numbers alone are kept.

    Args:
        runs: the outcomes of each method, one or more, by its name.
        never: the name of the run without retrieval.
        always: the name of the run that retrieves for every question. Without these two in `runs` nothing is
            said of whether retrieval was needed.
        right: the metric by which an answer counts as right.
        bins: of the reliability tables.
        seed: of intervals and permutations.

    Raises:
        SettingsError: there is no run, or `right` is not among the metrics.
        KnowwhenError: no question was finished by all, or they are not scored by the same metrics.
    """
    if not runs:
        raise SettingsError("there is no run to compare; give one or more")
    columns = {name: columns_of(outcomes) for name, outcomes in runs.items()}
    common = reduce(np.intersect1d, (each.keys[~each.failed] for each in columns.values()))
    everything = reduce(np.union1d, (each.keys for each in columns.values()))
    if not len(common):
        raise KnowwhenError("no question was finished by all methods; compare runs on the same questions")
    same = {name: each.where(np.isin(each.keys, common)) for name, each in columns.items()}
    _check_metrics(same)
    verdicts = {name: is_right(each, right) for name, each in same.items()}
    need = needs(verdicts[never], verdicts[always]) if never in same and always in same else None
    looked_up = {name: retrieved(each) for name, each in same.items()}

    def grouped(of: Callable[[Columns], Labels]) -> list[NeedGroup]:
        if need is None:
            return []
        return need_groups(of(same[never]), need, never, always, looked_up, verdicts, seed)

    scored = {
        name: scores_of(each, verdicts[never], bins, seed) for name, each in same.items() if never in same
    }
    return Comparison(
        questions=len(common),
        left_out=len(everything) - len(common),
        failed={name: int(each.failed.sum()) for name, each in columns.items()},
        runs={name: figures_of(each, right=right, bins=bins, seed=seed) for name, each in same.items()},
        differences=_differences(same, seed),
        need=None if need is None else need_figures(need, never, always, seed),
        boundary={}
        if need is None
        else {name: boundary_figures(need, looked_up[name], verdicts[name], seed) for name in same},
        need_by_hops=grouped(lambda run: run.hops),
        need_by_kind=grouped(lambda run: run.kinds),
        scores_of_knowing={name: figures for name, figures in scored.items() if figures is not None},
    )


def _check_metrics(runs: Mapping[str, Columns]) -> None:
    (first, wanted), *others = ((name, set(each.metrics)) for name, each in runs.items())
    for name, metrics in others:
        if metrics != wanted:
            only = ", ".join(sorted(metrics ^ wanted))
            raise KnowwhenError(f"one of {first} and {name} is not scored by {only}; score both alike")


def _differences(runs: Mapping[str, Columns], seed: int) -> list[Difference]:
    pairs = list(combinations(runs, 2))
    found = []
    for metric in next(iter(runs.values())).metrics:
        columns = {name: run.metrics[metric] for name, run in runs.items()}
        raw = [paired_p(columns[one], columns[other], seed) for one, other in pairs]
        found += [
            Difference(
                metric=metric,
                one=one,
                other=other,
                difference=mean_of(columns[one] - columns[other], seed),
                p=p,
                p_holm=corrected,
            )
            for (one, other), p, corrected in zip(pairs, raw, holm(raw), strict=True)
        ]
    return found
