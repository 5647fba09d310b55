"""Estimators by name, for settings and the command line: `gram`, `gram:inside`, `perplexity`, …"""

from dataclasses import MISSING, fields
from typing import Any

from knowwhen.models.door import Door
from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty import gram
from knowwhen.uncertainty.cocoa import CoCoA
from knowwhen.uncertainty.consistency import Consistency
from knowwhen.uncertainty.embedding_gram import EmbeddingGram, TextEncoder
from knowwhen.uncertainty.energy import Energy
from knowwhen.uncertainty.estimator import Estimator
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.ln_entropy import LNEntropy
from knowwhen.uncertainty.mean_perplexity import MeanPerplexity
from knowwhen.uncertainty.min_probability import MinProbability
from knowwhen.uncertainty.perplexity import Perplexity
from knowwhen.uncertainty.probability import Probability
from knowwhen.uncertainty.semantic_entropy import SemanticEntropy
from knowwhen.uncertainty.token_entropy import TokenEntropy
from knowwhen.uncertainty.token_margin import TokenMargin
from knowwhen.uncertainty.verbalised import Verbalised
from knowwhen.uncertainty.yes_no import YesNo

ESTIMATORS: dict[str, type[Estimator]] = {
    estimator.name: estimator
    for estimator in (
        Verbalised,
        Probability,
        MinProbability,
        Perplexity,
        MeanPerplexity,
        LNEntropy,
        TokenEntropy,
        TokenMargin,
        Energy,
        YesNo,
        gram.Gram,
        Consistency,
        SemanticEntropy,
        EmbeddingGram,
        CoCoA,
    )
}
PRESETS: dict[str, dict[str, dict[str, Any]]] = {"gram": gram.PRESETS}
NAMES = (*ESTIMATORS, *(f"{name}:{preset}" for name, presets in PRESETS.items() for preset in presets))
"""All that `resolve_estimator` takes."""


def resolve_estimator(
    name: str,
    *,
    door: Door | None = None,
    judge: Judge | None = None,
    encoder: TextEncoder | None = None,
    **settings: Any,
) -> Estimator:
    """The estimator that a name stands for.

    Args:
        name: one of `NAMES`, a preset behind a colon: `gram:inside`.
        door: for an estimator that asks the model something itself.
        judge: for one that compares answers; without it their normal forms are compared.
        encoder: for one that embeds answers.
        settings: of the estimator, over its preset's; the three above are passed to those that take them.

    Raises:
        SettingsError: there is no such estimator, preset or setting, or a part that it needs is missing.
        CapabilityError: the door's model cannot report what the estimator asks of it.
    """
    base, _, preset = name.partition(":")
    if name not in NAMES:
        raise SettingsError(f"there is no estimator {name!r}; choose from {', '.join(NAMES)}")
    kind = ESTIMATORS[base]
    taken = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    parts = {"door": door, "judge": judge, "encoder": encoder}
    unknown = [each for each in settings if each not in taken]
    if unknown:
        own = ", ".join(each for each in taken if each not in parts) or "none"
        raise SettingsError(f"{base} has no setting {unknown[0]!r}; its settings: {own}")
    given = {part: value for part, value in parts.items() if part in taken and value is not None}
    given |= PRESETS[base][preset] if preset else {}
    given |= settings
    for each, field in taken.items():
        if field.default is MISSING and each not in given:
            raise SettingsError(f"{base} needs its {each}; pass {each}=…")
    return kind(**given)
