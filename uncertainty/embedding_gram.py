"""Gram determinant of the sampled answers' embeddings, for models that show no hidden states.

Formula: (1/k) · ln det(Z J Zᵀ + α I), Z the embeddings of the k sampled texts as rows and J the centring of
each row over its features. Range: [ln α, ∞); k identical answers give the floor that `gram` names, which for
unit vectors and α = 10⁻³ at k = 20 is −6.41. Higher is less sure. Needs: the texts of k samples, and a text
encoder. Cost: k samples, and one encoding of the distinct texts. Source: Chen et al. 2024, "INSIDE" (their
variant over a sentence encoder's output).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.determinant import above_zero, spread
from knowwhen.uncertainty.estimator import Estimator, Needs, at_least_two
from knowwhen.uncertainty.reading import sampled_answers
from knowwhen.uncertainty.score import Kind, Score, Setting


class TextEncoder(Protocol):
    """Turns texts into vectors, as `knowwhen.tools.encoder.Encoder` does."""

    name: str

    def queries(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """One row a text."""


@dataclass(frozen=True)
class EmbeddingGram(Estimator):
    """The Gram determinant of the samples' embeddings.

    Args:
        encoder: of the texts; scores with different encoders do not compare.
        k: samples, at least 2.
        alpha: what is added to the diagonal, above 0.
    """

    name: ClassVar[str] = "embedding_gram"
    kind: ClassVar[Kind] = "uncertainty"

    encoder: TextEncoder
    k: int = 20
    alpha: float = 1e-3

    def __post_init__(self) -> None:
        at_least_two(self.k, self.name)
        above_zero(self.alpha)

    @property
    def needs(self) -> Needs:
        """The samples' texts."""
        return Needs(k=self.k)

    @property
    def settings(self) -> dict[str, Setting]:
        """What the embeddings and their determinant depend on."""
        return {"k": self.k, "alpha": self.alpha, "encoder": self.encoder.name}

    def score(self, evidence: Evidence) -> Score:
        """The determinant over the evidence's samples."""
        texts = [sample.text.strip() for sample in sampled_answers(evidence, self.k, self.name)]
        distinct = sorted(set(texts))
        vectors = self.encoder.queries(distinct)
        seen = spread(vectors[[distinct.index(text) for text in texts]], self.alpha)
        return self._scored(seen.value, {**seen.as_json(), "distinct": len(distinct)})
