"""Evidence from a model whose inside can be seen: answers and states in one operation."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig, ensure_config

from knowwhen.models.announcing import announced
from knowwhen.models.branching import Branches, Request, branch
from knowwhen.models.cost import Cost
from knowwhen.models.decoding import Decoding
from knowwhen.models.errors import SettingsError
from knowwhen.models.evidence import Answer, Evidence, StatesAt
from knowwhen.models.generation import Sample
from knowwhen.models.prompt_tokens import prompt_tokens
from knowwhen.models.reply import read_logprobs
from knowwhen.models.sites import layers_of, resolved

if TYPE_CHECKING:
    from knowwhen.models.transformers_chat import ChatTransformers


def sample_inside(
    model: "ChatTransformers",
    prompts: Sequence[list[BaseMessage]],
    k: int,
    greedy: bool,
    states: StatesAt | None,
    decoding: Decoding,
    config: RunnableConfig | None,
    abandoned: threading.Event,
) -> list[Evidence]:
    """What `ChatTransformers.sample` returns; incomplete once `abandoned` is set."""
    if k < 0 or (k == 0 and not greedy):
        raise SettingsError(f"k={k} samples and no greedy answer is nothing to ask for; give k of 1 or more")
    if states is not None and k == 0:
        raise SettingsError("hidden states are read behind samples; give k of 1 or more")
    settings: dict[str, Any] = decoding.model_dump() | {"n": k, "greedy": greedy, "states": states}
    with announced(model, list(prompts), settings, ensure_config(config)) as results:
        weights = model.weights
        request = Request(
            decoding,
            greedy=greedy,
            sampled=k > 0,
            states=None if states is None else resolved(states, len(layers_of(weights.model))),
            memory_limit=model.memory_limit,
            prefix_memory=model.prefix_memory,
        )
        tokens = [prompt_tokens(weights.tokenizer, messages) for messages in prompts]
        with weights.lock:
            answered = branch(weights, tokens, request, abandoned)
        evidence = []
        for messages, branches in zip(prompts, answered, strict=True):
            result = model.result_of(branches.prompt, branches.greedy + branches.samples, decoding)
            results.append(result)
            evidence.append(_evidence(messages, branches, result))
        return evidence


def _evidence(messages: list[BaseMessage], branches: Branches, result: ChatResult) -> Evidence:
    samples = branches.greedy + branches.samples
    answers = [_answer(*pair) for pair in zip(samples, result.generations, strict=True)]
    drawn = sum(sample.drawn for sample in samples)
    return Evidence(
        prompt="\n\n".join(str(message.text) for message in messages),
        greedy=answers[0] if branches.greedy else None,
        samples=tuple(answers[len(branches.greedy) :]),
        states=branches.states,
        cost=Cost(
            model_calls=1,
            sequences=len(answers),
            input_tokens=len(branches.prompt),
            output_tokens=drawn,
            retrievals=0,
            passages=0,
        ),
    )


def _answer(sample: Sample, generation: ChatGeneration) -> Answer:
    tokens = read_logprobs(generation.message.response_metadata)
    totals = tuple(choice.normaliser for choice in sample.choices() if choice.normaliser is not None)
    return Answer(generation.text, tokens, None if tokens is None else totals)
