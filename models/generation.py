"""Growing samples token by token after one prompt: one prefill, then one forward pass a token for all."""

import random
import secrets
from bisect import bisect_left
from typing import Any, Literal

import torch

from knowwhen.models.decoding import Choice, Decoding, choose
from knowwhen.models.errors import ModelError
from knowwhen.models.stopping import StopStrings
from knowwhen.models.token_text import GrowingText
from knowwhen.models.weights import Weights


class Sample:
    """One answer while it grows.

    Attributes:
        text: what is certain so far; it only ever grows.
        drawn: tokens taken from the model, an end token and tokens cut off by a stop string included.
        finish_reason: None while growing, "stop" after an end token or stop string, "length" when cut.
        decoding: how its tokens are chosen.
        max_tokens: how many may be drawn.
    """

    def __init__(
        self,
        weights: Weights,
        decoding: Decoding,
        max_tokens: int,
        source: random.Random,
        shown: frozenset[int] = frozenset(),
    ):
        self.decoding = decoding
        self.max_tokens = max_tokens
        self.text = ""
        self.drawn = 0
        self.finish_reason: Literal["stop", "length"] | None = None
        self._end_tokens = weights.end_tokens
        self._source = source
        self._growing = GrowingText(weights.tokenizer, shown)
        self._guard = StopStrings(decoding.stop)
        self._choices: list[Choice] = []
        self._starts: list[int] = []  # where the text of each choice begins

    def draw(self) -> float:
        """The random number in [0, 1) that decides the next token."""
        return self._source.random()

    def take(self, choice: Choice) -> None:
        """Add one chosen token and finish if it, its text or the number of tokens ends the sample."""
        self.drawn += 1
        if choice.token in self._end_tokens:
            self._finish("stop")
            return
        self._starts.append(self._growing.length)
        self._choices.append(choice)
        self.text += self._guard.push(self._growing.push(choice.token))
        if self._guard.found:
            self.finish_reason = "stop"
        elif self.drawn == self.max_tokens:
            self._finish("length")

    def choices(self, since: int = 0) -> list[Choice]:
        """The tokens of `text` from number `since` on, none of which begins at or after a stop string."""
        if self.finish_reason and not self._guard.found:
            return self._choices[since:]
        return self._choices[since : bisect_left(self._starts, len(self.text))]

    def _finish(self, reason: Literal["stop", "length"]) -> None:
        self.text += self._guard.push(self._growing.rest())
        self.finish_reason = "stop" if self._guard.found else reason
        self.text += self._guard.rest()


def begin_samples(
    weights: Weights,
    prompt: list[int],
    decoding: Decoding,
    kept_free: int = 0,
    shown: frozenset[int] = frozenset(),
) -> list[Sample]:
    """The `decoding.n` samples of one request before their first token.

    Args:
        weights: the model that is to answer.
        prompt: the tokens of the prompt.
        decoding: the request's settings; the number of tokens is cut to what the context has room for.
        kept_free: places of the context that no sample may take.
        shown: special tokens that belong to the samples' text.

    Raises:
        ModelError: the prompt leaves no room for an answer in the model's context.
    """
    room = weights.context_length - len(prompt) - kept_free
    if room < 1:
        raise ModelError(
            f"the prompt has {len(prompt)} tokens and the model's context only {weights.context_length}; "
            "shorten it, give fewer passages, or use a model with a longer context"
        )
    seed = secrets.randbits(64) if decoding.seed is None else decoding.seed
    max_tokens = min(decoding.max_tokens, room)
    return [
        Sample(weights, decoding, max_tokens, random.Random(f"{seed}/{number}"), shown)
        for number in range(decoding.n)
    ]


class Generation:
    """The samples of one request. Whoever calls `step` holds the lock of the weights."""

    def __init__(self, weights: Weights, prompt: list[int], samples: list[Sample]):
        """Prepare a request; the samples, from `begin_samples`, are decoded alike."""
        self._weights = weights
        self._decoding = samples[0].decoding
        self._growing = samples
        self._input = [prompt]
        self._cache: Any = None

    @property
    def done(self) -> bool:
        """Whether every sample is finished."""
        return not self._growing

    def step(self) -> None:
        """Run the model once and give every unfinished sample its next token."""
        with torch.inference_mode():
            logits = self._forward()
            choices = choose(logits, self._decoding, [sample.draw() for sample in self._growing])
            for sample, choice in zip(self._growing, choices, strict=True):
                sample.take(choice)
            self._drop_finished(choices)

    def _forward(self) -> torch.Tensor:
        """Logits of the next token of each growing sample, (samples, vocabulary), float32."""
        model = self._weights.model
        first = self._cache is None
        output = model(
            input_ids=torch.tensor(self._input, dtype=torch.long, device=model.device),
            past_key_values=self._cache,
            use_cache=True,
            **self._weights.last_logits_only,
        )
        self._cache = output.past_key_values
        logits: torch.Tensor = output.logits[:, -1].float()
        if first and len(self._growing) > 1:
            # All samples share the prompt, so it was read once and its keys and values are copied.
            self._keep_rows([0] * len(self._growing))
            logits = logits.expand(len(self._growing), -1)
        return logits

    def _drop_finished(self, choices: list[Choice]) -> None:
        rows = [row for row, sample in enumerate(self._growing) if sample.finish_reason is None]
        if not rows:
            self._cache = None
        elif len(rows) < len(self._growing):
            self._keep_rows(rows)
        self._input = [[choices[row].token] for row in rows]
        self._growing = [self._growing[row] for row in rows]

    def _keep_rows(self, rows: list[int]) -> None:
        self._cache.reorder_cache(torch.tensor(rows, dtype=torch.long, device=self._weights.model.device))
