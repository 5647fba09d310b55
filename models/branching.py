"""A greedy answer and k samples of each of some prompts, and the states behind the samples."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch

from knowwhen.models.decoding import Choice, Decoding, choose
from knowwhen.models.end_states import check_states, end_states
from knowwhen.models.evidence import HiddenStates, Site
from knowwhen.models.generation import Generation, Sample, begin_samples
from knowwhen.models.memory import plan
from knowwhen.models.probing import unfit
from knowwhen.models.trunk import Trunk
from knowwhen.models.weights import Weights


@dataclass(frozen=True)
class Request:
    """What is asked of each prompt.

    Attributes:
        decoding: the samples' settings; `n` of them are drawn if `sampled`.
        greedy: whether the most probable answer is wanted too.
        sampled: whether samples are wanted.
        states: the layer, counted from 1, and the site of the states wanted behind the samples.
        memory_limit: bytes to take beside the weights and the kept prefixes; None: no limit.
        prefix_memory: bytes that kept prefixes may take.
    """

    decoding: Decoding
    greedy: bool
    sampled: bool
    states: tuple[int, Site] | None
    memory_limit: int | None
    prefix_memory: int


@dataclass
class Branches:
    """The answers to one prompt, and the states behind the samples once they are read."""

    prompt: list[int]
    greedy: list[Sample]  # one, or none
    samples: list[Sample]
    states: HiddenStates | None = None


def branch(
    weights: Weights, prompts: Sequence[list[int]], request: Request, abandoned: threading.Event
) -> list[Branches]:
    """Answer each prompt greedily and by samples; those that begin alike share their beginning's computation.

    A model whose answers cannot share one cache (see `models/probing.py`) answers each prompt in two calls.

    Args:
        weights: the model; the caller holds its lock.
        prompts: the tokens of each.
        request: what is asked.
        abandoned: set by a caller who waits no longer; what is returned then is not finished.

    Raises:
        CapabilityError: states are asked, and its answers cannot share one cache, or it has no
            end-of-sequence token at which to read them.
        ModelError: a prompt leaves no room for an answer in the model's context.
        SettingsError: the memory limit is too small.
    """
    reason = unfit(weights)
    if request.states:
        check_states(weights)
    answers = [_begin(weights, prompt, request) for prompt in prompts]
    if reason:
        for answer in answers:
            _answer_apart(weights, answer, abandoned)
        return answers
    trunk = Trunk(weights)
    with torch.inference_mode():
        for one in sorted(answers, key=lambda answer: answer.prompt):  # those that begin alike in a row
            _answer(trunk, weights, one, request, abandoned)
    return answers


def _begin(weights: Weights, prompt: list[int], request: Request) -> Branches:
    kept_free = 1 if request.states else 0  # for the end-of-sequence token
    greedy = request.decoding.model_copy(update={"temperature": 0.0, "n": 1})
    return Branches(
        prompt,
        begin_samples(weights, prompt, greedy, kept_free) if request.greedy else [],
        begin_samples(weights, prompt, request.decoding, kept_free) if request.sampled else [],
    )


def _answer(
    trunk: Trunk, weights: Weights, answer: Branches, request: Request, abandoned: threading.Event
) -> None:
    """Read the prompt, then grow as many branches at a time as the memory limit allows."""
    branches = [*answer.greedy, *answer.samples]
    chunk, rows = plan(weights, len(answer.prompt), branches, request.memory_limit)
    logits = torch.empty(0)
    for logits in trunk.read(answer.prompt, chunk, weights.prefixes.find(answer.prompt)):  # noqa: B007
        if abandoned.is_set():
            return
    weights.prefixes.learn(answer.prompt, trunk.beginning, request.prefix_memory)
    states = []
    for start in range(0, len(branches), rows):
        group = branches[start : start + rows]
        _grow(trunk, group, logits, abandoned)
        if abandoned.is_set():
            return
        if request.states:
            tokens = [[choice.token for choice in sample.choices()] for sample in group]
            states.append(end_states(weights, trunk, tokens, *request.states))
        trunk.cut_branches()
    if request.states:
        values = torch.cat(states)[len(answer.greedy) :].float().cpu().numpy()
        answer.states = HiddenStates(values, *request.states)


def _answer_apart(weights: Weights, answer: Branches, abandoned: threading.Event) -> None:
    for samples in filter(None, (answer.greedy, answer.samples)):
        request = Generation(weights, answer.prompt, samples)
        while not request.done and not abandoned.is_set():
            request.step()


def _grow(trunk: Trunk, branches: list[Sample], logits: torch.Tensor, abandoned: threading.Event) -> None:
    """Grow all branches to their ends; `logits`, (1, vocabulary), follow the prompt."""
    logits = logits.expand(len(branches), -1)
    growing = list(enumerate(branches))
    while not abandoned.is_set():
        choices = _choose([sample for _, sample in growing], logits)
        tokens = []
        for (number, sample), choice in zip(growing, choices, strict=True):
            sample.take(choice)
            if sample.finish_reason is None:
                tokens.append((choice.token, number, len(trunk.prompt) + sample.drawn - 1))
        growing = [(number, sample) for number, sample in growing if sample.finish_reason is None]
        if not growing:
            return
        logits = trunk.grow(*map(list, zip(*tokens, strict=True)))


def _choose(samples: list[Sample], logits: torch.Tensor) -> list[Choice]:
    """The next token of each sample, those that are decoded alike chosen together."""
    choices: list[Choice] = []
    for _, alike in groupby(samples, key=lambda sample: id(sample.decoding)):
        some = list(alike)
        rows = logits[len(choices) : len(choices) + len(some)]
        choices += choose(rows, some[0].decoding, [sample.draw() for sample in some])
    return choices
