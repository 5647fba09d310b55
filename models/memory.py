"""How much of a prompt, and how many of its branches, are computed at once to keep within a memory limit.

The figures are those of a Llama, Qwen or Mistral in transformers; benchmarks/sampling.py holds them to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knowwhen.models.errors import SettingsError
from knowwhen.models.generation import Sample
from knowwhen.models.weights import Weights

CHUNK = 1024  # tokens of a prompt that go through the model at once at most; more gain nothing
SMALLEST_CHUNK = 16
SPARE = 1.1  # for what an allocator wastes
ROOM = 1.25  # what keys and values take beside what they need (see `KeyValues`)
CHOOSING = 48  # bytes an entry of the vocabulary while a token is chosen: logits, sorted, summed
MIB = 2**20


def plan(weights: Weights, prompt: int, branches: Sequence[Sample], limit: int | None) -> tuple[int, int]:
    """Tokens of the prompt to read at once, and branches to grow side by side; each at least 1.

    Args:
        weights: the model.
        prompt: tokens of the prompt.
        branches: the answers before their first token.
        limit: bytes to take beside the weights and the kept prefixes; None: no limit.

    Raises:
        SettingsError: not even one branch of this prompt keeps within the limit.
    """
    if limit is None:
        return CHUNK, len(branches)
    needs = _Needs(weights.model, prompt, branches[0].max_tokens + 1)  # and the end-of-sequence token
    smallest = min(SMALLEST_CHUNK, prompt)
    least = max(needs.reading(smallest), needs.growing(1))
    if least > limit:
        raise SettingsError(
            f"a prompt of {prompt} tokens and one answer of up to {branches[0].max_tokens} need about "
            f"{least / MIB:.1f} MiB, and memory_limit is {limit / MIB:.1f} MiB; raise it, or shorten them"
        )
    chunks = range(min(CHUNK, prompt), smallest - 1, -1)
    rows = range(len(branches), 0, -1)
    return (
        next(chunk for chunk in chunks if needs.reading(chunk) <= limit),
        next(number for number in rows if needs.growing(number) <= limit),
    )


@dataclass(frozen=True)
class _Needs:
    """Bytes that a model of this shape takes for a prompt and answers of so many tokens."""

    model: Any
    prompt: int
    answer: int

    def reading(self, chunk: int) -> float:
        """While `chunk` tokens of the prompt go through the model."""
        width = self._config("hidden_size")
        inner = 8 * width + 3 * self._config("intermediate_size", 4 * width)
        token = inner * self._item + self.prompt * self._score
        return SPARE * (self._held(self.prompt) + chunk * token + self._choosing)

    def growing(self, rows: int) -> float:
        """While `rows` branches grow to their full length, or their states are read."""
        tokens = self.prompt + rows * self.answer
        return SPARE * (self._held(tokens) + rows * (self._choosing + tokens * self._score))

    def _held(self, tokens: int) -> float:
        """Keys and values of all layers, and one layer's while they move and are spread over the heads."""
        heads = self._config("num_attention_heads")
        own = self._config("num_key_value_heads", heads)
        width = self._config("head_dim", self._config("hidden_size") // heads)
        layer = 2 * own * width * self._item * ROOM
        spread = 0 if own == heads else 2 * heads * width * self._item
        return tokens * (layer * (self._config("num_hidden_layers") + 1) + spread)

    @property
    def _score(self) -> int:
        """Of one token seen by one other: the mask, and in eager attention the scores of every head."""
        eager = self.model.config.get_text_config()._attn_implementation == "eager"
        return 8 + self._item + (self._config("num_attention_heads") * (2 * self._item + 4) if eager else 0)

    @property
    def _choosing(self) -> int:
        return CHOOSING * self._config("vocab_size")

    @property
    def _item(self) -> int:
        return int(self.model.dtype.itemsize)

    def _config(self, name: str, instead: int = 0) -> int:
        return int(getattr(self.model.config.get_text_config(), name, None) or instead)
