"""What records a question for a method: asks the model all that the replay of the gate needs, once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from knowwhen.evaluation.calibration.records import Asked, Record
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.models.cost import Cost
from knowwhen.uncertainty.score import Kind, Setting

SURE_OF_ALL: dict[Kind, float] = {"confidence": 0.0, "uncertainty": 1e300}
"""Thresholds that every score meets."""


@dataclass(frozen=True)
class Recorder:
    """How a method's gate is recorded.

    Attributes:
        ask: makes the record of a question; runs in several threads at once.
        estimator: its name, under which the scores are recorded.
        kind: of its scores.
        estimator_settings: what a score depends on beside the evidence.
        settings: of the method, that its thresholds go with.
        prompts: the method's, by name.
    """

    ask: Callable[[GoldQuestion], Record]
    estimator: str
    kind: Kind
    prompts: dict[str, str]
    estimator_settings: dict[str, Setting] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)


def record_of(question: GoldQuestion, asked: Asked) -> Record:
    """What was asked, as the record of a dataset's question."""
    return Record(
        **dict(asked),
        id=question.id,
        golden_answers=question.golden_answers,
        metadata=dict(question.metadata),
    )


def tokens(cost: Cost) -> int:
    """Read and written."""
    return cost["input_tokens"] + cost["output_tokens"]


def chosen(settings: dict[str, Any], *names: str) -> dict[str, Setting]:
    """Those of a user's settings that a score depends on."""
    return {name: settings[name] for name in names if settings.get(name) is not None}
