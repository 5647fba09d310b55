"""A chat model that answers, and beside it something that tells the hidden states behind its answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import Field

from knowwhen.models.capability import Capability, capabilities
from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.evidence import Answer, Evidence, HiddenStates, StatesAt
from knowwhen.models.sampling import Sampling, prepared


@runtime_checkable
class StatesSource(Protocol):
    """Where the states behind answers come from, such as `HalfDepth` or `SGLangStates`."""

    def states(
        self, prompts: Sequence[list[BaseMessage]], answers: Sequence[Sequence[Answer]], at: StatesAt
    ) -> list[HiddenStates]:
        """The states at the end-of-sequence token behind each prompt's answers, in their order."""


@dataclass(frozen=True, eq=False)
class CountedStates(HiddenStates):
    """States that requests to a server were made for, and what those cost."""

    cost: Cost


class ChatWithStates(BaseChatModel):
    """The answers of one model, and from elsewhere the hidden states behind them.

        >>> server = resolve_model("openai:Qwen/Qwen3-8B")
        >>> model = ChatWithStates(answers=server, source=HalfDepth("Qwen/Qwen3-8B"))

    It can stand wherever a model that shows hidden states is asked for: `seakr(model=…)`.
    """

    answers: BaseChatModel = Field(description="the model that answers")
    source: Any = Field(description="a StatesSource of the same weights")

    @property
    def reports(self) -> frozenset[Capability]:
        """What the answering model reports, and hidden states."""
        return capabilities(self.answers) - {Capability.LOGITS} | {Capability.HIDDEN_STATES}

    @property
    def _llm_type(self) -> str:
        return f"{self.answers._llm_type}-with-states"

    def check(self, at: StatesAt) -> None:
        """Refuse states that the source does not show, before answers are paid for.

        Raises:
            CapabilityError: it shows no states of that site.
        """
        if hasattr(self.source, "check"):
            self.source.check(at)

    def with_states(
        self, prompts: Sequence[list[BaseMessage]], evidence: Sequence[Evidence], at: StatesAt
    ) -> list[Evidence]:
        """The evidence with the states behind its samples; what reading them cost is added to its cost."""
        samples = [one.samples for one in evidence]
        found = self.source.states(prompts, samples, at)
        return [_joined(one, states) for one, states in zip(evidence, found, strict=True)]

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        model, keywords = prepared(self.answers, Sampling(**kwargs), stop is not None)
        return model._generate(messages, stop=stop, run_manager=run_manager, **keywords)


def _joined(evidence: Evidence, states: HiddenStates) -> Evidence:
    if not isinstance(states, CountedStates):
        return replace(evidence, states=states)
    return replace(evidence, states=states, cost=add_costs(evidence.cost or NO_COST, states.cost))
