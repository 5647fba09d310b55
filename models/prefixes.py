"""Beginnings that prompts have shared, such as fixed demonstrations, with their keys and values."""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

from knowwhen.models.key_values import Layers

SHORTEST = 16  # tokens; a beginning shorter than this, such as a chat template's, is not worth its place
RECENT = 64  # prompts whose tokens are remembered, so that the next one's beginning is known again


class Prefixes:
    """What was the beginning of two prompts is kept for a third; the least recently used goes first.

    One for each loaded model, for as long as the process lives. Whoever uses it holds the weights' lock.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, ...], Layers] = OrderedDict()
        self._recent: deque[list[int]] = deque(maxlen=RECENT)

    @property
    def size(self) -> int:
        """Bytes of all that is kept."""
        return sum(_size(layers) for layers in self._kept.values())

    def find(self, prompt: Sequence[int]) -> Layers | None:
        """Keys and values of the longest beginning of `prompt` that is known; None if none is."""
        length, tokens = max(((shared(tokens, prompt), tokens) for tokens in self._kept), default=(0, ()))
        if not length:
            return None
        self._kept.move_to_end(tokens)
        return [(keys[..., :length, :], values[..., :length, :]) for keys, values in self._kept[tokens]]

    def learn(self, prompt: list[int], beginning: Callable[[int], Layers], room: int) -> None:
        """Note a prompt that was read, and keep the beginning that it shares with an earlier one.

        Args:
            prompt: its tokens.
            beginning: makes the keys and values of its first tokens.
            room: bytes that all kept beginnings may take; one that is larger alone is not kept.
        """
        length = max((shared(earlier, prompt) for earlier in self._recent), default=0)
        self._recent.append(prompt)
        if length < SHORTEST or any(shared(tokens, prompt) >= length for tokens in self._kept):
            return
        layers = beginning(length)
        if _size(layers) > room:
            return
        for tokens in [tokens for tokens in self._kept if shared(tokens, prompt) == len(tokens)]:
            del self._kept[tokens]  # the new one holds it
        self._kept[tuple(prompt[:length])] = layers
        while self.size > room:
            self._kept.popitem(last=False)


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts have in common at their beginning."""
    return next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )


def _size(layers: Layers) -> int:
    return sum(keys.nbytes + values.nbytes for keys, values in layers)
