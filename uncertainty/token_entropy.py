"""Mean token entropy: over how many tokens the model's probability was spread at each place of its answer.

Formula: (1/n) · Σ_i H_i with H_i = −Σ_j p_ij ln p_ij − r_i ln r_i over the m most probable tokens of place i,
r_i = 1 − Σ_j p_ij all the others as if they were one: in nats, and never more than the entropy over the whole
vocabulary, which it is if m covers it. Range: [0, ln(m + 1)]; higher is less sure. Needs: the greedy answer
with the m best log-probabilities at each place. Cost: one call. Source: Fomicheva et al. 2020 (softmax
entropy); lm-polygraph's MeanTokenEntropy, which reads the whole vocabulary.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.errors import SettingsError
from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.reading import greedy_answer, mean, top_logprobs
from knowwhen.uncertainty.score import Kind, Score, Setting


@dataclass(frozen=True)
class TokenEntropy(Estimator):
    """The mean entropy over the greedy answer's places.

    Args:
        top_logprobs: how many of the most probable tokens are read at each place; servers report up to 20.
    """

    name: ClassVar[str] = "token_entropy"
    kind: ClassVar[Kind] = "uncertainty"

    top_logprobs: int = 10

    def __post_init__(self) -> None:
        if self.top_logprobs < 1:
            raise SettingsError(f"{self.name} reads top_logprobs of 1 or more, not {self.top_logprobs}")

    @property
    def needs(self) -> Needs:
        """The greedy answer and the most probable tokens at its places."""
        return Needs(greedy=True, logprobs=True, top_logprobs=self.top_logprobs)

    @property
    def settings(self) -> dict[str, Setting]:
        """How many tokens were read at each place."""
        return {"top_logprobs": self.top_logprobs}

    def score(self, evidence: Evidence) -> Score:
        """The entropy of the evidence's greedy answer."""
        tops = top_logprobs(greedy_answer(evidence, self.name), self.top_logprobs, self.name)
        entropies = [entropy(top) for top in tops]
        return self._scored(mean(entropies), {"tokens": len(tops), "most": max(entropies)})


def entropy(logprobs: Sequence[float]) -> float:
    """The entropy, in nats, of a distribution whose best tokens have these log-probabilities."""
    shares = [math.exp(logprob) for logprob in logprobs]
    rest = 1 - math.fsum(shares)  # below 0 by rounding, if the vocabulary is covered
    return -math.fsum(share * math.log(share) for share in [*shares, rest] if share > 0) + 0.0
