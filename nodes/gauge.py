"""The estimator that runs a method's gate, and where its scores count as sure."""

from dataclasses import dataclass, fields
from typing import Any

from pydantic import Field

from knowwhen.models.door import Door
from knowwhen.models.errors import SettingsError
from knowwhen.nodes.settings import Settings
from knowwhen.uncertainty.embedding_gram import TextEncoder
from knowwhen.uncertainty.estimator import Estimator
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.presets import Preset, choose_threshold
from knowwhen.uncertainty.resolve import ESTIMATORS, resolve_estimator
from knowwhen.uncertainty.score import Threshold


class GaugeSettings(Settings):
    """Which estimator gauges the model's answers, and where they count as sure."""

    estimator: str = Field(default="probability", description="Which estimator says how sure the model is")
    samples: int | None = Field(
        default=None, ge=2, le=1000, description="k, for an estimator that compares samples; None: its own"
    )
    threshold: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="Less sure, a question is looked up; None: that of the preset or thresholds",
    )


@dataclass(frozen=True)
class Gauge:
    """Makes a run's estimator and threshold from its settings.

    Args:
        door: to the model.
        defaults: the settings that a graph was built with.
        method: whose gate it is, for the errors.
        judge: for an estimator that compares texts.
        encoder: for one that embeds them.
        preset: the threshold that the user chose, of this model or another.
    """

    door: Door
    defaults: GaugeSettings
    method: str
    judge: Judge | None = None
    encoder: TextEncoder | None = None
    preset: Preset | None = None

    def estimator(self, now: GaugeSettings) -> Estimator:
        """The estimator that the settings name.

        Raises:
            SettingsError: there is none of that name, or a part that it needs is missing.
        """
        kind = ESTIMATORS.get(now.estimator.partition(":")[0])
        counted = kind is not None and "k" in {field.name for field in fields(kind)}  # type: ignore[arg-type]
        own: dict[str, Any] = {"k": now.samples} if counted and now.samples is not None else {}
        return resolve_estimator(now.estimator, door=self.door, judge=self.judge, encoder=self.encoder, **own)

    def threshold(self, now: GaugeSettings) -> Threshold:
        """The estimator's threshold on the model at hand.

        Raises:
            SettingsError: none is known, or the one given when the graph was built is another estimator's.
        """
        estimator, default = self.estimator(now), self.estimator(self.defaults)
        inherited = now.threshold is not None and "threshold" not in now.model_fields_set
        if inherited and (estimator.name, estimator.settings) != (default.name, default.settings):
            raise SettingsError(
                f"threshold={now.threshold} was given for estimator={self.defaults.estimator!r}, "
                f"samples={self.defaults.samples}; pass the threshold of estimator={now.estimator!r}, "
                f"samples={now.samples} beside it"
            )
        return choose_threshold(estimator, self.door.model, self.method, now.threshold, self.preset)
