"""Hidden states from the first layers of a model's weights, behind answers that were written elsewhere."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from langchain_core.messages import BaseMessage

from knowwhen.models.end_states import check_states, end_states
from knowwhen.models.errors import ModelError
from knowwhen.models.evidence import Answer, HiddenStates, StatesAt
from knowwhen.models.memory import CHUNK
from knowwhen.models.prompt_tokens import prompt_tokens
from knowwhen.models.sites import layers_of, resolved
from knowwhen.models.trunk import Trunk
from knowwhen.models.weights import Dtype, Weights, layers_in, load_weights


class HalfDepth:
    """Reads the states of a model whose answers a server gives, on a local copy of its first layers.

    Of the weights only the layers up to the one asked for are loaded, half of them for the middle one, and no
    output layer. A prompt and its answers are read once, in one cache. The copy must be of the server's
    model; its chat template makes the prompt's tokens, and those of an answer are the server's where its
    log-probabilities name them, else the tokenizer's own for the text.

    Args:
        path: folder of the saved model, or a hub id.
        dtype: precision to load in; auto is the one of the saved weights.
        device: as torch names it; CUDA where there is one by default.
        prefix_memory: bytes for prompts' shared beginnings, kept for the process.
    """

    def __init__(
        self,
        path: str,
        dtype: Dtype = "auto",
        device: str | None = None,
        prefix_memory: int = 256 * 2**20,
    ) -> None:
        self.path = path
        self.dtype: Dtype = dtype
        self.device = device
        self.prefix_memory = prefix_memory

    def states(
        self, prompts: Sequence[list[BaseMessage]], answers: Sequence[Sequence[Answer]], at: StatesAt
    ) -> list[HiddenStates]:
        """The states at the end-of-sequence token behind each prompt's answers.

        Args:
            prompts: conversations.
            answers: those to each prompt.
            at: layer, counted from 1 (None: the middle one of the whole model), and site.

        Raises:
            CapabilityError: states cannot be read in a model of this architecture.
            ModelError: it cannot be loaded, or a prompt with its answer is longer than its context.
            SettingsError: no such layer or site.
        """
        layer, site = resolved(at, layers_in(self.path))
        weights = load_weights(self.path, self.dtype, self.device, layers=layer)
        layers_of(weights.model)  # refuses an architecture without them
        tokens = [prompt_tokens(weights.tokenizer, messages) for messages in prompts]
        found = []
        with weights.lock, torch.inference_mode():
            check_states(weights)
            trunk = Trunk(weights)
            for prompt, some in zip(tokens, answers, strict=True):
                for _ in trunk.read(prompt, CHUNK, weights.prefixes.find(prompt)):
                    pass
                weights.prefixes.learn(prompt, trunk.beginning, self.prefix_memory)
                values = []
                for part in _parts(weights, len(prompt), [answer_tokens(weights, one) for one in some]):
                    values.append(end_states(weights, trunk, part, layer, site).float().cpu().numpy())
                    trunk.cut_branches()
                found.append(HiddenStates(np.concatenate(values), layer, site))
        return found


def answer_tokens(weights: Weights, answer: Answer) -> list[int]:
    """The tokens of an answer: those that the log-probabilities name, if they spell the text.

    A token that a stop string cut in two belongs to it, as in a local model's answers.
    """
    spelled = ""
    ids: list[int] = []
    for token in answer.tokens or ():
        named = weights.token_bytes.token_of(token.token.encode())
        if named is None or len(spelled) >= len(answer.text):
            break
        spelled += token.token
        ids.append(named)
    if spelled.startswith(answer.text):
        return ids
    encoded: list[int] = weights.tokenizer(answer.text, add_special_tokens=False, verbose=False)["input_ids"]
    return encoded


def _parts(weights: Weights, prompt: int, answers: Sequence[list[int]]) -> Iterator[list[list[int]]]:
    """The answers in lots, which are read side by side."""
    part: list[list[int]] = []
    for answer in answers:
        if prompt + len(answer) >= weights.context_length:
            raise ModelError(
                f"a prompt of {prompt} tokens and an answer of {len(answer)} are longer than the model's "
                f"context of {weights.context_length}; shorten the prompt, or lower max_tokens"
            )
        if part and sum(map(len, part)) + len(answer) > CHUNK:
            yield part
            part = []
        part.append(answer)
    yield part
