"""How well a score tells right answers from wrong ones: AUROC, calibration, risk and coverage."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from sklearn.metrics import brier_score_loss, roc_auc_score

from knowwhen.evaluation.figures.resampling import MANY, draws, with_interval
from knowwhen.evaluation.intervals import Figure
from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.score import Kind

Floats = NDArray[np.float64]

BINS = 10
POINTS = 200  # of a curve, at most; there are as many as different scores otherwise


class ReliabilityBin(BaseModel, frozen=True, extra="forbid"):
    """The answers whose confidence lies above `low` and not above `high`; the first has 0, too."""

    low: float
    high: float
    number: int
    confidence: float | None
    """Mean; None, as `right` is, where there is no answer."""
    right: float | None
    """Share of the answers."""


class GatePoint(BaseModel, frozen=True, extra="forbid"):
    """What a gate does at one threshold: scores that reach it are sure."""

    threshold: float
    coverage: float
    """Share of the answers that are sure: those for which the gate would not retrieve."""
    risk: float
    """Share of the sure answers that are wrong."""
    sensitivity: float | None
    """Share of the right answers that are sure; None: there is none."""
    specificity: float | None
    """Share of the wrong answers that are not sure; None: there is none."""


class ScoreFigures(BaseModel, frozen=True, extra="forbid"):
    """Of the answers that have a score."""

    kind: Kind
    estimators: list[str]
    number: int
    """Of answers with a score."""
    without: int
    """Finished questions without one; they are in no figure here."""
    right: float
    """Share of the answers."""
    auroc: Figure | None
    """Probability that a right answer is surer than a wrong one; None where all are right, or all wrong."""
    brier: float | None
    """Mean squared difference of confidence and rightness; None for uncertainties."""
    ece: float | None
    """Expected calibration error over the bins of `reliability`; None for uncertainties."""
    reliability: list[ReliabilityBin]
    """Of equal width; empty for uncertainties."""
    aurc: float
    """Area under the risk-coverage curve: mean risk of the k surest answers over all k."""
    e_aurc: float
    """What `aurc` exceeds that of a perfect order by."""
    curve: list[GatePoint]
    """From the highest threshold for confidence, the lowest for uncertainty; the last covers all answers."""


def score_figures(
    values: Sequence[float] | Floats,
    right: Sequence[bool] | NDArray[np.bool_],
    kind: Kind,
    *,
    estimators: Sequence[str] = (),
    without: int = 0,
    bins: int = BINS,
    seed: int = 0,
) -> ScoreFigures | None:
    """All figures of one estimator's scores; None without any.

    Args:
        values: scores; confidences lie in [0, 1].
        right: whether each answer is right.
        kind: which way the scores point.
        estimators: their names.
        without: how many more answers have no score.
        bins: of the reliability table.
        seed: of the interval.

    Raises:
        SettingsError: a score is not finite, or a confidence not in [0, 1].
    """
    scores, correct = _checked(values, right, kind)
    if not len(scores):
        return None
    sureness = scores if kind == "confidence" else -scores
    table = reliability(scores, correct, bins) if kind == "confidence" else []
    optimum = aurc(correct.astype(float), correct)
    area = aurc(sureness, correct)
    return ScoreFigures(
        kind=kind,
        estimators=list(estimators),
        number=len(scores),
        without=without,
        right=float(correct.mean()),
        auroc=auroc(sureness, correct, seed),
        brier=float(brier_score_loss(correct, scores, labels=[False, True]))
        if kind == "confidence"
        else None,
        ece=expected_calibration_error(table) if kind == "confidence" else None,
        reliability=table,
        aurc=area,
        e_aurc=max(0.0, area - optimum),
        curve=gate_curve(scores, correct, kind),
    )


def auroc(sureness: Floats, right: NDArray[np.bool_], seed: int = 0) -> Figure | None:
    """Area under the ROC curve, ties counting half, with its interval; None for answers of one sort alone.

    Right and wrong answers are resampled each by themselves.
    """
    if right.all() or not right.any():
        return None
    value = float(roc_auc_score(right, sureness))
    distinct, places = np.unique(sureness, return_inverse=True)
    if len(distinct) > MANY:  # for the interval neighbours count as ties
        places = places * MANY // len(distinct)
    size = int(places.max()) + 1
    of_right, of_wrong = (np.bincount(places[mask], minlength=size) for mask in (right, ~right))
    rng = np.random.default_rng(seed)
    resampled = [
        (drawn * (np.cumsum(others, axis=1) - others / 2)).sum(axis=1)
        for drawn, others in zip(draws(of_right, rng), draws(of_wrong, rng), strict=True)
    ]
    return with_interval(value, np.concatenate(resampled) / (of_right.sum() * of_wrong.sum()))


def reliability(confidences: Floats, right: NDArray[np.bool_], bins: int = BINS) -> list[ReliabilityBin]:
    """The reliability table (Guo et al. 2017): m bins (0, 1/m], (1/m, 2/m], …, and 0 in the first."""
    edges = np.linspace(0, 1, bins + 1)
    places = np.clip(np.searchsorted(edges, confidences, side="left") - 1, 0, bins - 1)
    numbers = np.bincount(places, minlength=bins)
    stated = np.bincount(places, confidences, minlength=bins)
    found = np.bincount(places, right, minlength=bins)
    return [
        ReliabilityBin(
            low=float(edges[place]),
            high=float(edges[place + 1]),
            number=int(number),
            confidence=float(stated[place] / number) if number else None,
            right=float(found[place] / number) if number else None,
        )
        for place, number in enumerate(numbers)
    ]


def expected_calibration_error(table: Sequence[ReliabilityBin]) -> float:
    """ECE (Guo et al. 2017): mean distance of stated confidence and share of right answers, over the bins.

    torchmetrics gives the same number, but not the table behind it, and its import takes longer than all
    other figures; the tests hold this one against it.
    """
    filled = [each for each in table if each.confidence is not None and each.right is not None]
    total = sum(each.number for each in filled)
    return sum(each.number * abs((each.confidence or 0.0) - (each.right or 0.0)) for each in filled) / total


def aurc(sureness: Floats, right: NDArray[np.bool_]) -> float:
    """Area under the risk-coverage curve (Geifman et al. 2019): mean over k of the risk of the k surest.

    Answers that are equally sure come in random order; this is the mean over all such orders.
    """
    wrong, number = _by_sureness(sureness, right)
    starts = np.cumsum(number) - number
    before = np.cumsum(wrong) - wrong
    block = np.repeat(np.arange(len(number)), number)
    covered = np.arange(1, len(block) + 1)
    within = (covered - starts[block]) * (wrong / number)[block]
    return float(np.mean((before[block] + within) / covered))


def gate_curve(values: Floats, right: NDArray[np.bool_], kind: Kind) -> list[GatePoint]:
    """What a gate does at each score that occurs as its threshold, at most `POINTS` of them."""
    sureness = values if kind == "confidence" else -values
    distinct = np.unique(sureness)[::-1]
    wrong, number = _by_sureness(sureness, right)
    covered, failed = np.cumsum(number), np.cumsum(wrong)
    rights, wrongs = covered[-1] - failed[-1], failed[-1]
    if len(distinct) > POINTS:  # evenly over the answers
        chosen = np.unique(np.searchsorted(covered, np.linspace(1, covered[-1], POINTS)))
    else:
        chosen = np.arange(len(distinct))
    return [
        GatePoint(
            threshold=float(distinct[at] if kind == "confidence" else -distinct[at]),
            coverage=float(covered[at] / covered[-1]),
            risk=float(failed[at] / covered[at]),
            sensitivity=float((covered[at] - failed[at]) / rights) if rights else None,
            specificity=float(1 - failed[at] / wrongs) if wrongs else None,
        )
        for at in chosen
    ]


def _by_sureness(sureness: Floats, right: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.intp]]:
    """Wrong answers, and all, at each distinct score, the surest first."""
    _, places, number = np.unique(-sureness, return_inverse=True, return_counts=True)
    wrong = np.bincount(places, (~right).astype(float), minlength=len(number))
    return wrong.astype(float), number


def _checked(
    values: Sequence[float] | Floats, right: Sequence[bool] | NDArray[np.bool_], kind: Kind
) -> tuple[Floats, NDArray[np.bool_]]:
    scores, correct = np.asarray(values, dtype=float), np.asarray(right, dtype=bool)
    if len(scores) != len(correct):
        raise SettingsError(f"{len(scores)} scores are given and {len(correct)} answers; give one each")
    outside = ~np.isfinite(scores)
    if kind == "confidence":
        outside |= (scores < 0) | (scores > 1)
    if outside.any():
        raise SettingsError(f"{scores[outside][0]} is no {kind}; leave answers out that have no score")
    return scores, correct
