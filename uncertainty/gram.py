"""Gram determinant: how far the hidden states behind k samples spread (SeaKR's U, INSIDE's EigenScore).

Formula: U = (1/k) · ln det(Z J Zᵀ + α I), Z the k states as rows and J the centring of each row over its
features. Range: [ln α, ∞); k identical samples of squared norm r give ((k−1) ln α + ln(k r + α))/k, which
the diagnostics name as the floor. Higher is less sure. Needs: k samples and the hidden states at the
end-of-sequence token behind them. Cost: k samples, and a pass through half the layers over their tokens.
Source: SeaKR, section 3.1 (preset `seakr`: the feed-forward block's output); Chen et al. 2024, "INSIDE"
(preset `inside`: the residual stream, with the natural logarithm and without division by the width, as in
the paper and in lm-polygraph; INSIDE's own code differs in both).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.evidence import Evidence, Site
from knowwhen.uncertainty.determinant import above_zero, spread
from knowwhen.uncertainty.estimator import Estimator, Needs, at_least_two
from knowwhen.uncertainty.reading import sampled_answers
from knowwhen.uncertainty.score import EvidenceError, Kind, Score, Setting

PRESETS: dict[str, dict[str, Any]] = {
    "seakr": {"site": "mlp", "k": 20},
    "inside": {"site": "residual", "k": 10},
}


@dataclass(frozen=True)
class Gram(Estimator):
    """The Gram determinant of the hidden states behind k samples.

    Args:
        k: samples, at least 2.
        alpha: what is added to the diagonal, above 0.
        site: where in the layer the states are read; the two differ in scale.
        layer: counted from 1; None for the middle one, L // 2.
    """

    name: ClassVar[str] = "gram"
    kind: ClassVar[Kind] = "uncertainty"

    k: int = 20
    alpha: float = 1e-3
    site: Site = "mlp"
    layer: int | None = None

    def __post_init__(self) -> None:
        at_least_two(self.k, self.name)
        above_zero(self.alpha)
        if self.site not in get_args(Site):
            raise SettingsError(f"there is no site {self.site!r}; choose from {', '.join(get_args(Site))}")
        if self.layer is not None and self.layer < 1:
            raise SettingsError(f"layers are counted from 1, so there is no layer {self.layer}")

    @property
    def needs(self) -> Needs:
        """The samples and the states behind them."""
        return Needs(k=self.k, states=(self.layer, self.site))

    @property
    def settings(self) -> dict[str, Setting]:
        """The layer among them only if one was chosen: the middle one is known with the first score."""
        chosen: dict[str, Setting] = {} if self.layer is None else {"layer": self.layer}
        return {"k": self.k, "alpha": self.alpha, "site": self.site} | chosen

    def score(self, evidence: Evidence) -> Score:
        """The determinant of the evidence's states."""
        samples = sampled_answers(evidence, self.k, self.name)
        states = evidence.states
        if states is None:
            raise CapabilityError(f"{self.name} needs hidden states, and the model reported none")
        if states.site != self.site or self.layer not in (None, states.layer):
            raise EvidenceError(
                f"{self.name} reads {self.site} states of layer {self.layer or 'L // 2'}, not {states.site} "
                f"states of layer {states.layer}; ask for those that it needs"
            )
        if len(states.values) != self.k:
            raise EvidenceError(f"{self.name} needs the states of {self.k} samples, not {len(states.values)}")
        seen = spread(states.values, self.alpha)
        distinct = len({sample.text for sample in samples})
        return self._scored(seen.value, {**seen.as_json(), "distinct": distinct}, {"layer": states.layer})
