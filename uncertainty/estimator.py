"""What every estimator has in common: it says what evidence it needs, and makes a score of it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel

from knowwhen.models.capability import Capability, require
from knowwhen.models.cost import NO_COST, Cost
from knowwhen.models.errors import SettingsError
from knowwhen.models.evidence import Evidence, StatesAt
from knowwhen.uncertainty.score import Kind, Score, Setting, Threshold


@dataclass(frozen=True)
class Needs:
    """The evidence that an estimator reads; a graph collects this and no more.

    Attributes:
        k: sampled answers.
        greedy: whether it reads the most probable answer.
        logprobs: whether it reads log-probabilities of the tokens.
        top_logprobs: how many of the most probable tokens it reads at each place.
        logits: whether it reads the logits' normalisers.
        states: the layer, counted from 1 (None: the middle one, L // 2), and site of the hidden states.
    """

    k: int = 0
    greedy: bool = False
    logprobs: bool = False
    top_logprobs: int = 0
    logits: bool = False
    states: StatesAt | None = None

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What a model must be able to report."""
        wanted = {
            Capability.TEXT: True,
            Capability.SAMPLES: self.k > 1,
            Capability.LOGPROBS: self.logprobs,
            Capability.HIDDEN_STATES: self.states is not None,
            Capability.LOGITS: self.logits,
        }
        return frozenset(capability for capability, needed in wanted.items() if needed)

    def sampling(self) -> dict[str, Any]:
        """The needs as `Door.sample` takes them."""
        return {
            "k": self.k,
            "greedy": self.greedy,
            "logprobs": self.logprobs,
            "top_logprobs": self.top_logprobs or None,
            "states": self.states,
        }


class Estimator(ABC):
    """Computes a score from evidence. Frozen and without state, so safe to share among threads."""

    name: ClassVar[str]
    kind: ClassVar[Kind]

    @property
    @abstractmethod
    def needs(self) -> Needs:
        """The evidence that `score` reads."""

    @property
    def settings(self) -> dict[str, Setting]:
        """What a score depends on beside the evidence."""
        return {}

    @abstractmethod
    def score(self, evidence: Evidence) -> Score:
        """How sure the model is.

        Raises:
            CapabilityError: the evidence lacks what this estimator needs.
            EvidenceError: of this evidence no score can be made.
        """

    def require(self, model: BaseChatModel) -> None:
        """Refuse a model that does not report what this estimator needs; to be called when a graph is built.

        Raises:
            CapabilityError: something is missing; one line says what, and what to use instead.
        """
        instead = "choose an estimator that reads text, such as 'verbalised' or 'consistency'"
        require(model, self.needs.capabilities, f"estimator={self.name!r}", instead)

    def threshold(self, value: float) -> Threshold:
        """The threshold `value` for scores of this estimator."""
        return Threshold(value, self.kind, self.name, self.settings)

    def _scored(
        self,
        value: float,
        diagnostics: dict[str, Any] | None = None,
        settings: dict[str, Setting] | None = None,
        cost: Cost = NO_COST,
    ) -> Score:
        own = self.settings | (settings or {})
        return Score(value, self.kind, self.name, own, diagnostics or {}, cost)


def at_least_two(k: int, name: str) -> None:
    """Refuse a number of samples that leaves nothing to compare: one answer always agrees with itself.

    Raises:
        SettingsError: k is below 2.
    """
    if k < 2:
        raise SettingsError(f"{name} compares samples, so k must be at least 2, not {k}")
