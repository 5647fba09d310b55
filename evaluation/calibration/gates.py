"""The methods that have a gate: how each is replayed, and what it must be set to for its thresholds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from knowwhen.evaluation.calibration.recordings.probtree import SCORE
from knowwhen.evaluation.calibration.records import Record
from knowwhen.evaluation.calibration.replays.gate import replay_gate
from knowwhen.evaluation.calibration.replays.keqa import replay_keqa
from knowwhen.evaluation.calibration.replays.replay import Gauge, Replay
from knowwhen.evaluation.calibration.replays.self_dc import replay_self_dc
from knowwhen.evaluation.metric_names import Metric
from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.resolve import ESTIMATORS
from knowwhen.uncertainty.score import Kind, Setting


@dataclass(frozen=True)
class Gated:
    """A method with a gate.

    Attributes:
        replay: of records.
        estimator: what gauges unless the user names another.
        settings: what the method must be set to beside its thresholds, by the estimator's name.
    """

    replay: Callable[[Sequence[Record], Gauge, Metric], Replay]
    estimator: str
    settings: Callable[[str], dict[str, Setting]]


GATES: Mapping[str, Gated] = {
    "self_dc": Gated(replay_self_dc, "probability", lambda name: {"confidence": name}),
    "keqa": Gated(replay_keqa, "consistency", lambda name: {}),
    "seakr": Gated(replay_gate, "gram:seakr", lambda name: {"estimator": name}),
    "taikc": Gated(replay_gate, "probability", lambda name: {"estimator": name, "boundary": "estimator"}),
}


def gate_of(method: str) -> Gated:
    """The gate of a method.

    Raises:
        SettingsError: it has none.
    """
    if method not in GATES:
        raise SettingsError(f"{method!r} has no gate to calibrate; choose from {', '.join(GATES)}")
    return GATES[method]


def kind_of(estimator: str, given: Kind | None = None) -> Kind:
    """Which way an estimator's scores point.

    Raises:
        SettingsError: knowwhen has no estimator of that name, and no kind is given.
    """
    known = ESTIMATORS.get(estimator.partition(":")[0])
    kind: Kind | None = known.kind if known else "confidence" if estimator == SCORE else given
    if kind is None:
        raise SettingsError(
            f"whether {estimator!r} is a confidence or an uncertainty is not known; pass --kind"
        )
    return kind
