"""Energy: how much the logits, before they are normalised, have for any token at all.

Formula: −(1/n) · Σ_i ln Σ_v exp(z_iv), z_i the logits over the vocabulary at place i of the answer. Range:
(−∞, ∞), in the scale of the model's logits; higher is less sure. Needs: the greedy answer with the logits'
normalisers ln Σ_v exp(z_iv), which only a model shows whose inside is seen: log-probabilities have lost them.
Cost: one call. Source: Liu et al. 2020 at temperature 1, averaged over tokens; SeaKR, section 5.1, whose
published runs report it with the opposite sign.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.errors import CapabilityError
from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.reading import greedy_answer, mean
from knowwhen.uncertainty.score import EvidenceError, Kind, Score


@dataclass(frozen=True)
class Energy(Estimator):
    """The mean energy over the greedy answer's places."""

    name: ClassVar[str] = "energy"
    kind: ClassVar[Kind] = "uncertainty"

    @property
    def needs(self) -> Needs:
        """The greedy answer and the normalisers of the logits at its places."""
        return Needs(greedy=True, logprobs=True, logits=True)

    def score(self, evidence: Evidence) -> Score:
        """The energy of the evidence's greedy answer."""
        normalisers = greedy_answer(evidence, self.name).log_normalisers
        if normalisers is None:
            raise CapabilityError(
                f"{self.name} needs the logits, and the model reported none; use transformers:<folder>, or "
                "choose an estimator that reads log-probabilities, such as 'perplexity'"
            )
        if not normalisers or not all(map(math.isfinite, normalisers)):
            raise EvidenceError(f"{self.name} needs an answer with tokens and logits that are finite numbers")
        return self._scored(-mean(list(normalisers)), {"tokens": len(normalisers)})
