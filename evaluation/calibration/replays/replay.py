"""A gate replayed: what a method would have answered and spent at each of many thresholds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from knowwhen.evaluation.calibration.records import Asked, Attempt, Record
from knowwhen.evaluation.metric_names import Metric
from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.score import Kind

Array: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.intp]
Flags: TypeAlias = npt.NDArray[np.bool_]
Thresholds: TypeAlias = dict[str, float]
"""By the names of the method's settings."""

UNSURE = -np.inf


@dataclass(frozen=True)
class Outcomes:
    """What came of questions: arrays of one shape, whose first axis is the questions."""

    quality: Array
    """In [0, 1]."""
    retrievals: Array
    tokens: Array

    def of(self, rows: Places) -> "Outcomes":
        """Of some of the questions."""
        return Outcomes(self.quality[rows], self.retrievals[rows], self.tokens[rows])


@dataclass(frozen=True)
class Replay:
    """A method at each candidate, and at the two extremes that know no gate."""

    candidates: Sequence[Thresholds]
    gated: Outcomes
    """(questions, candidates)."""
    never: Outcomes
    """(questions,): all from memory."""
    always: Outcomes
    """(questions,): all from passages."""

    def of(self, rows: Places) -> "Replay":
        """Of some of the questions."""
        return Replay(self.candidates, self.gated.of(rows), self.never.of(rows), self.always.of(rows))


@dataclass(frozen=True)
class Gauge:
    """How sure an attempt is, by the score of one estimator."""

    estimator: str
    kind: Kind

    def sureness(self, attempt: Attempt, asked: Asked) -> float:
        """The score, turned so that more is surer; minus infinity if none could be made.

        Raises:
            SettingsError: the attempt was not scored by this estimator.
        """
        if self.estimator not in attempt.scores:
            known = ", ".join(attempt.scores) or "none"
            raise SettingsError(
                f"the answer to {asked.question!r} has no score {self.estimator!r}; its scores: {known}"
            )
        score = attempt.scores[self.estimator]
        if score is None:
            return UNSURE
        return score if self.kind == "confidence" else -score

    def surest(self, asked: Asked) -> str:
        """The open-book answer that is kept: the surest, of equals the first (SeaKR, section 3.2)."""
        attempts = asked.open_book
        if len(attempts) == 1:
            return attempts[0].answer
        return max(attempts, key=lambda attempt: self.sureness(attempt, asked)).answer


def extremes(records: Sequence[Record], gauge: Gauge, metric: Metric) -> tuple[Outcomes, Outcomes]:
    """Every question from memory, and every question from passages."""
    never = _outcomes(
        (
            metric(each.closed_book.answer, each.golden_answers),
            0.0,
            each.gate_tokens + each.closed_book.tokens,
        )
        for each in records
    )
    always = _outcomes(
        (metric(gauge.surest(each), each.golden_answers), each.retrievals, open_tokens(each))
        for each in records
    )
    return never, always


def open_tokens(asked: Asked) -> int:
    """What all open-book answers took."""
    return sum(attempt.tokens for attempt in asked.open_book)


def qualities(answers: Sequence[str], record: Record, metric: Metric) -> Array:
    """What each answer to a record's question is worth."""
    return np.array([metric(answer, record.golden_answers) for answer in answers], dtype=float)


def _outcomes(rows: Iterable[tuple[float, float, int]]) -> Outcomes:
    quality, retrievals, tokens = np.array(list(rows), dtype=float).T
    return Outcomes(quality, retrievals, tokens)
