"""The estimator that runs a method's gate, and where its scores count as sure."""

from dataclasses import dataclass, fields
from typing import Any

from knowwhen.models.capability import Capability, require
from knowwhen.models.door import Door
from knowwhen.models.errors import SettingsError
from knowwhen.nodes.reasoning import ReasoningSettings
from knowwhen.uncertainty.embedding_gram import TextEncoder
from knowwhen.uncertainty.estimator import Estimator
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.presets import Preset, choose_threshold
from knowwhen.uncertainty.resolve import ESTIMATORS, resolve_estimator
from knowwhen.uncertainty.score import Threshold


@dataclass(frozen=True)
class Gauge:
    """Makes a run's estimator and threshold from its settings.

    Args:
        door: to the model.
        defaults: the settings that a graph was built with.
        judge: for an estimator that compares texts.
        encoder: for one that embeds them.
        preset: the threshold that the user chose, of this model or another.
    """

    door: Door
    defaults: ReasoningSettings
    judge: Judge | None = None
    encoder: TextEncoder | None = None
    preset: Preset | None = None

    def estimator(self, now: ReasoningSettings) -> Estimator:
        """The estimator that the settings name.

        Raises:
            SettingsError: there is none of that name, or a part that it needs is missing.
        """
        kind = ESTIMATORS.get(now.estimator.partition(":")[0])
        counted = kind is not None and "k" in {field.name for field in fields(kind)}  # type: ignore[arg-type]
        own: dict[str, Any] = {"k": now.samples} if counted and now.samples is not None else {}
        return resolve_estimator(now.estimator, door=self.door, judge=self.judge, encoder=self.encoder, **own)

    def threshold(self, now: ReasoningSettings) -> Threshold:
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
        return choose_threshold(estimator, self.door.model, "seakr", now.threshold, self.preset)

    def check(self) -> None:
        """Refuse, when a graph is built, what would fail when it runs with these settings.

        Raises:
            CapabilityError: the model does not report what the estimator or the query reads.
            SettingsError: there is no such estimator, or no threshold for it on this model.
        """
        now, estimator = self.defaults, self.estimator(self.defaults)
        compares = now.retrieval == "always" and (now.rerank == "surest" or now.reasoning == "surer")
        if now.retrieval == "unsure" or now.hops == "one" or compares:
            estimator.require(self.door.model)
        if now.retrieval == "unsure":
            self.threshold(now)
        if now.retrieval != "never" and now.query == "surer_tokens":
            require(
                self.door.model,
                [Capability.LOGPROBS],
                "seakr's query='surer_tokens'",
                "use query='thought' or query='question'",
            )
