"""Calibration: a gate's thresholds from records, and what they promise."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from knowwhen.evaluation.calibration.budget import Budget
from knowwhen.evaluation.calibration.gates import gate_of, kind_of
from knowwhen.evaluation.calibration.precision import Precision, precision
from knowwhen.evaluation.calibration.records import Record
from knowwhen.evaluation.calibration.replays.replay import Gauge, Replay
from knowwhen.evaluation.calibration.search import FOLDS, Found, best, by_two_stages, search
from knowwhen.evaluation.calibration.trade_off import write_trade_off
from knowwhen.evaluation.calibration.verdict import unmet, verdict
from knowwhen.evaluation.intervals import Figure
from knowwhen.evaluation.metric_names import METRICS
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.uncertainty.score import Kind, Setting
from knowwhen.uncertainty.thresholds import FoundOn, OfEstimator, OfModel, Thresholds

METRIC = "f1"
CURVE, PLOT = ".curve.csv", ".curve.png"


@dataclass(frozen=True)
class Calibration:
    """The thresholds found, and all that they were found among."""

    method: str
    gauge: Gauge
    metric: str
    budget: Budget
    replay: Replay
    found: Found

    @property
    def verdict(self) -> str:
        """What it comes to, in plain sentences."""
        return verdict(self.found, self.metric)

    @property
    def precision(self) -> Precision | None:
        """How exactly the retrievals of new questions are known."""
        return precision(self.found, self.questions)

    @property
    def unmet(self) -> str:
        """That the budget cannot be met, and what there is instead; empty where it is met."""
        return unmet(self.found, self.budget)

    @property
    def questions(self) -> int:
        """How many the thresholds were chosen by."""
        return len(self.replay.never.quality)

    def thresholds(
        self,
        model: OfModel,
        prompts: str = "",
        dataset: str = "",
        settings: dict[str, Setting] | None = None,
        estimator_settings: dict[str, Setting] | None = None,
    ) -> Thresholds:
        """The thresholds file.

        Args:
            model: what the records are of.
            prompts: the fingerprint of the prompts that they were made with; empty: not known.
            dataset: what was asked.
            settings: of the method, that the records were made with.
            estimator_settings: what a score depends on beside the evidence.
        """
        expected = self.found.expected
        return Thresholds(
            method=self.method,
            thresholds=self.found.thresholds,
            settings=gate_of(self.method).settings(self.gauge.estimator) | (settings or {}),
            estimator=OfEstimator(
                name=self.gauge.estimator, kind=self.gauge.kind, settings=estimator_settings or {}
            ),
            model=model,
            prompts=prompts,
            found_on=FoundOn(
                dataset=dataset,
                questions=self.questions,
                metric=self.metric,
                budget=self.budget.model_dump(exclude_none=True),
                expected={
                    self.metric: _ends(expected.quality),
                    "retrievals": _ends(expected.retrievals),
                    "tokens": _ends(expected.tokens),
                },
            ),
        )

    def write_curve(self, out: Path) -> Path:
        """Write the whole trade-off as CSV beside the thresholds file `out`; gives its path.

        Raises:
            KnowwhenError: it cannot be written.
        """
        file = out.with_suffix(CURVE)
        write_trade_off(self.replay, file)
        return file


def calibrate_records(
    records: Sequence[Record],
    method: str,
    budget: Budget,
    *,
    estimator: str | None = None,
    kind: Kind | None = None,
    metric: str = METRIC,
    two_stages: bool = False,
    folds: int = FOLDS,
    seed: int = 0,
) -> Calibration:
    """Find the thresholds of a method's gate that suit a budget, from recorded outcomes alone.

    Args:
        records: the questions, each with what came of it closed book and open book.
        method: one of `GATES`.
        budget: what the user is ready to spend.
        estimator: whose scores the gate goes by; None: the only one recorded, or the method's own.
        kind: of the scores of an estimator that knowwhen does not know.
        metric: one of `METRICS`.
        two_stages: find Self-DC's thresholds one after the other as the paper does, not jointly.
        folds: of the cross-validation.
        seed: of the folds and the intervals.

    Raises:
        SettingsError: a name is unknown, scores are missing, or there are too few records.
        KnowwhenError: the records do not hold what the method's replay needs.
    """
    gate = gate_of(method)
    if metric not in METRICS:
        raise SettingsError(f"there is no metric {metric!r}; choose from {', '.join(METRICS)}")
    if two_stages and method != "self_dc":
        raise SettingsError(f"the two stages are Self-DC's; {method} has one")
    if not records:
        raise KnowwhenError("there is no record to calibrate on")
    if estimator is None:
        recorded = list(records[0].closed_book.scores)
        usual = (gate.estimator, gate.estimator.partition(":")[0])
        estimator = recorded[0] if len(recorded) == 1 else next((n for n in usual if n in recorded), usual[0])
    gauge = Gauge(estimator, kind_of(estimator, kind))
    replay = gate.replay(records, gauge, METRICS[metric])
    found = search(replay, budget, by_two_stages if two_stages else best, folds, seed)
    return Calibration(method, gauge, metric, budget, replay, found)


def _ends(figure: Figure) -> tuple[float, float | None, float | None]:
    return figure.value, figure.low, figure.high
