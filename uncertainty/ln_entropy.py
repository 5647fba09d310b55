"""Length-normalised predictive entropy of k samples.

Formula: −(1/k) · Σ_s (1/n_s) · Σ_i log p_{s,i} over k sampled answers of n_s tokens, in nats. Range: [0, ∞);
higher is less sure. Needs: k samples with log-probabilities. Cost: k samples. Source: Malinin and Gales 2021;
SeaKR, section 5.1.
"""

from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs, at_least_two
from knowwhen.uncertainty.reading import mean, sampled_answers, token_logprobs
from knowwhen.uncertainty.score import Kind, Score, Setting


@dataclass(frozen=True)
class LNEntropy(Estimator):
    """The length-normalised entropy of k samples, at least 2."""

    name: ClassVar[str] = "ln_entropy"
    kind: ClassVar[Kind] = "uncertainty"

    k: int = 20

    def __post_init__(self) -> None:
        at_least_two(self.k, self.name)

    @property
    def needs(self) -> Needs:
        """The samples and their tokens' log-probabilities."""
        return Needs(k=self.k, logprobs=True)

    @property
    def settings(self) -> dict[str, Setting]:
        """The number of samples."""
        return {"k": self.k}

    def score(self, evidence: Evidence) -> Score:
        """The entropy over the evidence's samples."""
        samples = sampled_answers(evidence, self.k, self.name)
        return self._scored(-mean([mean(token_logprobs(sample, self.name)) for sample in samples]) + 0.0)
