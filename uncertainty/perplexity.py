"""Perplexity of the most probable answer: among how many tokens, on average, the model hesitated.

Formula: exp(−(1/n) · Σ log p_i) over the n tokens of the answer. Range: [1, ∞); higher is less sure. Needs:
the greedy answer with log-probabilities. Cost: one call. Source: SeaKR, section 5.1 (ablation).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.reading import greedy_answer, mean, token_logprobs
from knowwhen.uncertainty.score import Kind, Score

LARGEST = math.log(1e300)  # beyond which a perplexity is no number


@dataclass(frozen=True)
class Perplexity(Estimator):
    """The perplexity of the greedy answer."""

    name: ClassVar[str] = "perplexity"
    kind: ClassVar[Kind] = "uncertainty"

    @property
    def needs(self) -> Needs:
        """The greedy answer and its tokens' log-probabilities."""
        return Needs(greedy=True, logprobs=True)

    def score(self, evidence: Evidence) -> Score:
        """The perplexity of the evidence's greedy answer."""
        logprobs = token_logprobs(greedy_answer(evidence, self.name), self.name)
        return self._scored(perplexity(logprobs), {"tokens": len(logprobs)})


def perplexity(logprobs: Sequence[float]) -> float:
    """The perplexity of an answer of at least one token, [1, ∞]; infinite where no float is large enough."""
    nats = -mean(list(logprobs))
    return math.exp(nats) if nats <= LARGEST else math.inf
