"""Mean of k perplexities (SeaKR's multi-perplexity).

Formula: (1/k) · Σ_s exp(−(1/n_s) · Σ_i log p_{s,i}) over k sampled answers of n_s tokens. Range: [1, ∞);
higher is less sure. Needs: k samples with log-probabilities. Cost: k samples. Source: SeaKR, section 5.1; it
is also what the column "LN-entropy" of that paper's published runs holds.
"""

from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs, at_least_two
from knowwhen.uncertainty.perplexity import perplexity
from knowwhen.uncertainty.reading import mean, sampled_answers, token_logprobs
from knowwhen.uncertainty.score import Kind, Score, Setting


@dataclass(frozen=True)
class MeanPerplexity(Estimator):
    """The mean perplexity of k samples, at least 2."""

    name: ClassVar[str] = "mean_perplexity"
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
        """The mean over the evidence's samples."""
        samples = sampled_answers(evidence, self.k, self.name)
        perplexities = [perplexity(token_logprobs(sample, self.name)) for sample in samples]
        return self._scored(mean(perplexities), {"least": min(perplexities), "most": max(perplexities)})
