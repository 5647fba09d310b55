"""The hidden states at the end-of-sequence token behind answers to one prompt."""

from collections.abc import Sequence

import torch

from knowwhen.models.errors import CapabilityError
from knowwhen.models.evidence import Site
from knowwhen.models.probing import unfit
from knowwhen.models.sites import no_states, reading
from knowwhen.models.trunk import Trunk
from knowwhen.models.weights import Weights


def check_states(weights: Weights) -> int:
    """The end-of-sequence token of a model whose states can be read; the caller holds its lock.

    Raises:
        CapabilityError: its answers cannot share one cache, or its tokenizer has no such token.
    """
    if reason := unfit(weights):
        raise CapabilityError(no_states(weights.model, reason))
    if weights.end_token is None:
        raise CapabilityError(no_states(weights.model, "its tokenizer has no end-of-sequence token"))
    return weights.end_token


def end_states(
    weights: Weights, trunk: Trunk, answers: Sequence[list[int]], layer: int, site: Site
) -> torch.Tensor:
    """Feed the end-of-sequence token behind each answer and read its state, (answers, width).

    One pass through the layers up to `layer` does all. An answer is what its reader sees: what a branch holds
    beyond it, from a stop string on, is taken back; what it lacks, such as the last token of an answer that
    was cut, is fed too.

    Args:
        weights: the model.
        trunk: holds the prompt, and perhaps beginnings of the answers as branches 0, 1, …
        answers: the tokens of each.
        layer: counted from 1.
        site: where in the layer.
    """
    end = check_states(weights)
    tokens: list[int] = []
    branches: list[int] = []
    positions: list[int] = []
    ends: list[int] = []
    for branch, answer in enumerate(answers):
        held = trunk.prune(branch, len(answer))
        unread = [*answer[held:], end]
        tokens += unread
        branches += [branch] * len(unread)
        positions += range(len(trunk.prompt) + held, len(trunk.prompt) + len(answer) + 1)
        ends.append(len(tokens) - 1)
    with reading(weights.model, layer, site) as read:
        trunk.grow(tokens, branches, positions)
    return read[0][0, ends]
