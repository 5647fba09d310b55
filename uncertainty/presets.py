"""Presets: thresholds that were found once, each bound to the model and the estimator it was found with.

A threshold does not carry over: of SeaKR's scores published for Llama-3.1-8B on 500 questions not one lies
below the -6 that was found on Llama-2-7b-chat. So a preset chosen for another model warns, and none is ever
guessed.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel

from knowwhen.models.capability import describe
from knowwhen.models.errors import SettingsError
from knowwhen.models.pocket import is_pocket
from knowwhen.uncertainty.estimator import Estimator
from knowwhen.uncertainty.score import Setting, Threshold


@dataclass(frozen=True)
class Preset:
    """A threshold and where it comes from.

    Attributes:
        model: the weights it was found with; it fits a model whose weights' name holds this name.
        threshold: with the estimator and its settings.
        source: who found it, and on what.
    """

    model: str
    threshold: Threshold
    source: str

    def fits(self, model: BaseChatModel) -> bool:
        """Whether it was found with this model."""
        if self.model == POCKET:
            return is_pocket(model)
        return self.model.casefold() in describe(model).casefold()


POCKET = "pocket"
_GRAM: dict[str, Setting] = {"k": 20, "alpha": 1e-3, "site": "mlp"}
PRESETS: dict[str, Preset] = {
    POCKET: Preset(POCKET, Threshold(-5.92, "uncertainty", "gram", _GRAM), "the almanac's calibration split"),
    "pocket-probability": Preset(
        POCKET,
        Threshold(0.84, "confidence", "probability", {}),
        "the almanac's calibration split, direct answers to single facts",
    ),
    "llama-2-7b-chat": Preset(
        "Llama-2-7b-chat",
        Threshold(-6.0, "uncertainty", "gram", _GRAM),
        "SeaKR, section 5.3: on 3,000 training questions of Natural Questions",
    ),
}


def choose_preset(model: BaseChatModel, name: str | None = None) -> Preset | None:
    """The preset that a user chose by its name; None: none was chosen.

    Args:
        model: what it is to be used with; a preset of another model warns.
        name: one of `PRESETS`.

    Raises:
        SettingsError: there is no such preset.
    """
    if name is None:
        return None
    if name not in PRESETS:
        raise SettingsError(f"there is no preset {name!r}; choose from {', '.join(PRESETS)}")
    chosen = PRESETS[name]
    if not chosen.fits(model):
        warnings.warn(
            f"the threshold {chosen.threshold.value:g} was found on {chosen.model}, not on "
            f"{describe(model)}: it may always or never be met; calibrate one for this model",
            stacklevel=3,
        )
    return chosen


def choose_threshold(
    estimator: Estimator,
    model: BaseChatModel,
    asked_by: str,
    value: float | None = None,
    preset: Preset | None = None,
) -> Threshold:
    """The threshold for an estimator's scores of a model.

    Args:
        estimator: what gives the scores.
        model: whose scores they are.
        asked_by: who needs it, for the error: "seakr".
        value: the user's own, before all others.
        preset: the one chosen; None: the one that fits the model and the estimator.

    Raises:
        SettingsError: there is none, or the one chosen was found with another estimator.
    """
    if value is not None:
        if not math.isfinite(value):  # every score would meet it, or none
            raise SettingsError(f"threshold={value} is no threshold; pass a finite number")
        return estimator.threshold(value)
    if preset is not None:
        found = preset.threshold
        if not _same(found, estimator):
            raise SettingsError(
                f"the preset found on {preset.model} holds a threshold for {found.estimator} "
                f"({_told(found.settings)}), not for {estimator.name} ({_told(estimator.settings)}); "
                "pass threshold=…"
            )
        return found
    for known in PRESETS.values():
        if known.fits(model) and _same(known.threshold, estimator):
            return known.threshold
    raise SettingsError(
        f"{asked_by} has no threshold for estimator={estimator.name!r} on {describe(model)}; pass "
        "threshold=…, or thresholds=FILE, as one found on another model or estimator does not carry over"
    )


def _same(threshold: Threshold, estimator: Estimator) -> bool:
    own = estimator.settings
    return (threshold.estimator, threshold.kind) == (estimator.name, estimator.kind) and all(
        own.get(name) == value for name, value in threshold.settings.items() if name in own
    )


def _told(settings: Any) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items()) or "no settings"
