"""What a chat model can report, and the check made when a graph is built."""

from collections.abc import Iterable
from enum import StrEnum

from langchain_core.language_models import BaseChatModel

from knowwhen.models.errors import CapabilityError


class Capability(StrEnum):
    """One kind of evidence a model may hand back with its answer."""

    TEXT = "text"
    SAMPLES = "n samples"
    LOGPROBS = "log-probabilities"
    HIDDEN_STATES = "hidden states"
    LOGITS = "logits"


REPORTED_BY = {
    Capability.TEXT: "any chat model",
    Capability.SAMPLES: "a model that draws several samples in one call: transformers:<folder>, openai:…",
    Capability.LOGPROBS: "a model that reports log-probabilities: transformers:<folder>, openai:…",
    Capability.HIDDEN_STATES: "a model that reports hidden states: transformers:<folder>, ChatWithStates",
    Capability.LOGITS: "a model that shows its logits: transformers:<folder>",
}


def capabilities(model: BaseChatModel) -> frozenset[Capability]:
    """What `model` can report.

    A model may say so itself in an attribute `reports: frozenset[Capability]`; one that reports hidden states
    has the method `sample` of `ChatTransformers`, or `with_states` of `ChatWithStates`. For any other model
    the fields of its class decide: `n` means samples and `logprobs` means that log-probabilities are claimed;
    whether a server really sends them is known only after its first answer. langchain-openai drops
    log-probabilities on the Responses API, so `use_responses_api=True` takes the claim back.
    """
    declared: frozenset[Capability] | None = getattr(model, "reports", None)
    if declared is not None:
        return declared
    fields = type(model).model_fields
    found = {Capability.TEXT}
    if "n" in fields:
        found.add(Capability.SAMPLES)
    if "logprobs" in fields and getattr(model, "use_responses_api", None) is not True:
        found.add(Capability.LOGPROBS)
    return frozenset(found)


def require(model: BaseChatModel, needed: Iterable[Capability], asked_by: str, instead: str = "") -> None:
    """Refuse `model` unless it reports everything in `needed`.

    Args:
        model: the model a graph is being built with.
        needed: what the asker reads from the model's answers.
        asked_by: who asks, as the user wrote it: `"self_dc's confidence='probability'"`.
        instead: what the asker offers as a way out, as an imperative: `"use confidence='verbalised'"`.

    Raises:
        CapabilityError: something is missing; one line names the asker, the model and the ways out.
    """
    reported = capabilities(model)
    wanted = frozenset(needed)
    missing = [capability for capability in Capability if capability in wanted - reported]
    if not missing:
        return
    way_out = f"{instead}, or " if instead else "use "
    way_out += REPORTED_BY[missing[-1]]
    if Capability.LOGPROBS in missing and getattr(model, "use_responses_api", None) is True:
        way_out = f"pass use_responses_api=False, as the Responses API drops them; or {way_out}"
    raise CapabilityError(
        f"{asked_by} needs {' and '.join(missing)}, which {describe(model)} does not report; {way_out}"
    )


def describe(model: BaseChatModel) -> str:
    """The class of `model` and the name of the weights it asks for, as in `ChatOpenAI (gpt-4o-mini)`."""
    told = getattr(model, "described", None)  # a stand-in says for whom it stands
    if isinstance(told, str):
        return told
    for attribute in ("model_name", "model", "path"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return f"{type(model).__name__} ({name})"
    return type(model).__name__
