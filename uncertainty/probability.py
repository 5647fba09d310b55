"""Mean token probability: how probable the model found the answer that it gave.

Formula: (1/n) · Σ exp(log p_i) over the n tokens of the answer. Range: [0, 1]; higher is surer. Needs: the
greedy answer with log-probabilities. Cost: one call. Source: Self-DC, section 4.2 (probability-based
confidence).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.reading import greedy_answer, mean, token_logprobs
from knowwhen.uncertainty.score import Kind, Score


@dataclass(frozen=True)
class Probability(Estimator):
    """The mean probability of the greedy answer's tokens."""

    name: ClassVar[str] = "probability"
    kind: ClassVar[Kind] = "confidence"

    @property
    def needs(self) -> Needs:
        """The greedy answer and its tokens' log-probabilities."""
        return Needs(greedy=True, logprobs=True)

    def score(self, evidence: Evidence) -> Score:
        """The mean over the evidence's greedy answer."""
        logprobs = token_logprobs(greedy_answer(evidence, self.name), self.name)
        value = mean([math.exp(logprob) for logprob in logprobs])
        return self._scored(min(1.0, value), {"tokens": len(logprobs)})


def mean_probability(logprobs: Sequence[float]) -> float | None:
    """The mean of the tokens' probabilities; None for an answer without a token or with a NaN.

    Args:
        logprobs: natural logarithms of the probabilities of the answer's tokens; above 0, as rounding leaves
            some servers' certain tokens, counts as 0.
    """
    if not logprobs or any(math.isnan(logprob) for logprob in logprobs):
        return None
    return min(1.0, math.fsum(math.exp(min(0.0, logprob)) for logprob in logprobs) / len(logprobs))
