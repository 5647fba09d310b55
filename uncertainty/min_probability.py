"""Minimum probability: the weakest token of the answer.

Formula: min p_i over the tokens of the answer. Range: [0, 1]; higher is surer. Needs: the greedy answer with
log-probabilities. Cost: one call. Source: Jiang et al. 2023, "FLARE" (a sentence is looked up if any of its
tokens is less probable than a threshold).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.reading import greedy_answer, token_logprobs
from knowwhen.uncertainty.score import Kind, Score


@dataclass(frozen=True)
class MinProbability(Estimator):
    """The probability of the greedy answer's least probable token."""

    name: ClassVar[str] = "min_probability"
    kind: ClassVar[Kind] = "confidence"

    @property
    def needs(self) -> Needs:
        """The greedy answer and its tokens' log-probabilities."""
        return Needs(greedy=True, logprobs=True)

    def score(self, evidence: Evidence) -> Score:
        """The minimum over the evidence's greedy answer."""
        answer = greedy_answer(evidence, self.name)
        logprobs = token_logprobs(answer, self.name)
        weakest = min(range(len(logprobs)), key=logprobs.__getitem__)
        return self._scored(math.exp(logprobs[weakest]), {"token": weakest})
