"""Consistency T_c: the share of k sampled answers that mean the same.

Formula: T_c = |largest cluster| / k, of clusters of answers that mean the same; answers that say that the
model does not know form no cluster and count in k. Range: [0, 1]; higher is surer. Needs: the texts of k
samples. Cost: k samples, and one batch of the judge's calls if there is one: none for equal normal forms nor
where the largest cluster is settled, at most k (k − 1)/2. Source: KEQA, section 3.3 and Algorithm 1 (k = 5,
known from T_c ≥ 0.8 on).
"""

from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs, at_least_two
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.largest_cluster import largest_cluster
from knowwhen.uncertainty.reading import sampled_answers
from knowwhen.uncertainty.score import Kind, Score, Setting


@dataclass(frozen=True)
class Consistency(Estimator):
    """The share of the samples in the largest cluster.

    Args:
        k: samples, at least 2.
        judge: of answers whose normal forms differ; None: those differ.
    """

    name: ClassVar[str] = "consistency"
    kind: ClassVar[Kind] = "confidence"

    k: int = 5
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
        """T_c of the evidence's samples; the diagnostics hold the answer A_c of the largest cluster."""
        texts = [sample.text for sample in sampled_answers(evidence, self.k, self.name)]
        found = largest_cluster(evidence.prompt, texts, self.judge)
        diagnostics = {
            "answer": found.answer,
            "clusters": [list(cluster) for cluster in found.clusters],
            "unknown": len(found.unknown),
            "judged": found.judged,
            "saved": found.saved,
            "unread": found.unread,
        }
        return self._scored(found.consistency, diagnostics, cost=found.cost)
