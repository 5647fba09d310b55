"""What an estimator says: a number, which way it points, and all that it must share to be compared."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from knowwhen.models.cost import NO_COST, Cost
from knowwhen.models.errors import KnowwhenError, SettingsError

Kind = Literal["confidence", "uncertainty"]
Setting = str | int | float | bool | None


class EvidenceError(KnowwhenError):
    """Evidence of which no score can be made: too few samples, an empty answer, a number that is none.

    Attributes:
        cost: of the calls that the estimator had made itself until then.
    """

    def __init__(self, message: str, cost: Cost = NO_COST) -> None:
        super().__init__(message)
        self.cost = cost


@dataclass(frozen=True)
class Threshold:
    """The value from which a score of one estimator counts as sure; it belongs to a model besides.

    Attributes:
        value: a score that reaches it is sure.
        kind: which way the estimator points.
        estimator: its name.
        settings: those of the estimator that the value was found with.
    """

    value: float
    kind: Kind
    estimator: str
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """A number that an estimator gave.

    Attributes:
        value: finite; a confidence lies in [0, 1].
        kind: `confidence`: higher is surer; `uncertainty`: higher is less sure.
        estimator: its name.
        settings: what the value depends on; scores that differ in any of it are never compared.
        diagnostics: what else was seen on the way; all of it JSON.
        cost: of the calls that the estimator made itself; the evidence has its own.

    Raises:
        EvidenceError: the value is NaN, infinite, or a confidence outside [0, 1].
    """

    value: float
    kind: Kind
    estimator: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    cost: Cost = field(default_factory=NO_COST.copy)

    def __post_init__(self) -> None:
        # NaN compares false with every threshold, which a gate would take for sure.
        if not math.isfinite(self.value) or (self.kind == "confidence" and not 0 <= self.value <= 1):
            raise EvidenceError(
                f"{self.estimator} came to {self.value}, which is no {self.kind}; "
                "the model's numbers overflowed or are not its own"
            )

    def surer_than(self, other: "Score") -> bool:
        """Whether this score is surer than another of the same estimator and settings.

        Raises:
            SettingsError: the other differs in more than its value.
        """
        self._comparable(other, dict(self.settings) == dict(other.settings))
        return self._surer(self.value, other.value)

    def meets(self, threshold: Threshold) -> bool:
        """Whether this score is as sure as the threshold, or surer: at the threshold itself it is.

        Raises:
            SettingsError: the threshold was found with another estimator or other settings.
        """
        absent = object()
        same = all(self.settings.get(name, absent) == value for name, value in threshold.settings.items())
        self._comparable(threshold, same)
        return not self._surer(threshold.value, self.value)

    def as_json(self) -> dict[str, Any]:
        """The score as a dictionary of JSON."""
        return asdict(self)

    def _surer(self, one: float, other: float) -> bool:
        return one > other if self.kind == "confidence" else one < other

    def _comparable(self, other: "Score | Threshold", same_settings: bool) -> None:
        if (self.estimator, self.kind) != (other.estimator, other.kind) or not same_settings:
            raise SettingsError(
                f"a score of {_described(self)} cannot be compared with one of {_described(other)}; "
                "use one estimator with one choice of settings throughout"
            )


def _described(of: Score | Threshold) -> str:
    settings = ", ".join(f"{name}={value!r}" for name, value in of.settings.items())
    return f"{of.estimator}({settings})"
