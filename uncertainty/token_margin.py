"""Mean token margin: how far the best token was ahead of the second at each place of the answer.

Formula: (1/n) · Σ_i (p_i1 − p_i2), the probabilities of the two most probable tokens of place i. Range:
[0, 1]; higher is surer. Needs: the greedy answer with the two best log-probabilities at each place. Cost: one
call. Source: margin sampling, Scheffer et al. 2001; over a sequence's tokens, as token entropy is.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.evidence import Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.reading import greedy_answer, mean, top_logprobs
from knowwhen.uncertainty.score import Kind, Score


@dataclass(frozen=True)
class TokenMargin(Estimator):
    """The mean margin over the greedy answer's places."""

    name: ClassVar[str] = "token_margin"
    kind: ClassVar[Kind] = "confidence"

    @property
    def needs(self) -> Needs:
        """The greedy answer and the two most probable tokens at its places."""
        return Needs(greedy=True, logprobs=True, top_logprobs=2)

    def score(self, evidence: Evidence) -> Score:
        """The margin of the evidence's greedy answer."""
        tops = top_logprobs(greedy_answer(evidence, self.name), 2, self.name)
        margins = [margin(top) for top in tops]
        return self._scored(mean(margins), {"tokens": len(tops), "least": min(margins)})


def margin(best: list[float]) -> float:
    """How far the first of the best log-probabilities, in descending order, is ahead of the second."""
    return math.exp(best[0]) - (math.exp(best[1]) if len(best) > 1 else 0.0)
