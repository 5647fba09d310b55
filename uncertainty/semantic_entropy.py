"""Discrete semantic entropy: over how many meanings k sampled answers spread.

Formula: −Σ_c (n_c/k) · ln (n_c/k) over the clusters c of n_c answers that mean the same; answers that say
that the model does not know count as a cluster each. Range: [0, ln k], in nats; higher is less sure. Needs:
the texts of k samples. Cost: k samples, and the judge's calls if there is one, at most k (k − 1)/2. Source:
Farquhar et al. 2024 (the variant without probabilities, 10 samples); they compare by entailment both ways,
which a judge may do.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.clusters import clustered
from knowwhen.uncertainty.estimator import Estimator, Needs, at_least_two
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.reading import sampled_answers
from knowwhen.uncertainty.score import Kind, Score, Setting


@dataclass(frozen=True)
class SemanticEntropy(Estimator):
    """The entropy of the samples' meanings.

    Args:
        k: samples, at least 2.
        judge: of answers whose normal forms differ; None: those differ.
    """

    name: ClassVar[str] = "semantic_entropy"
    kind: ClassVar[Kind] = "uncertainty"

    k: int = 10
    judge: Judge | None = None

    def __post_init__(self) -> None:
        at_least_two(self.k, self.name)

    @property
    def needs(self) -> Needs:
        """The samples' texts."""
        return Needs(k=self.k)

    @property
    def settings(self) -> dict[str, Setting]:
        """The number of samples, and by whom they were compared."""
        return {"k": self.k, "judge": self.judge.name if self.judge else None}

    def score(self, evidence: Evidence) -> Score:
        """The entropy of the evidence's samples."""
        texts = [sample.text for sample in sampled_answers(evidence, self.k, self.name)]
        found = clustered(evidence.prompt, texts, self.judge)
        sizes = [len(cluster) for cluster in found.members] + [1] * len(found.unknown)
        value = math.fsum(-size / self.k * math.log(size / self.k) for size in sizes)
        diagnostics = {"sizes": sizes, "unknown": len(found.unknown), "judged": found.judged}
        return self._scored(value + 0.0, diagnostics, cost=found.cost)
