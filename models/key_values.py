"""Keys and values of one layer, in room that grows by a quarter, so that a new token moves no others."""

from typing import Any

import torch
from transformers.cache_utils import DynamicLayer

Layers = list[tuple[torch.Tensor, torch.Tensor]]  # keys and values of each layer, (1, heads, tokens, width)


class KeyValues(DynamicLayer):  # type: ignore[misc]  # transformers is untyped here
    """A cache layer for transformers that can also go back to any earlier length.

    transformers' own layer copies all it holds for every new token, and one with a sliding window forgets
    what another continuation of the prompt still needs. This one holds every token; masks do the forgetting.
    """

    def __init__(self) -> None:
        super().__init__()
        self.length = 0  # tokens held; what lies behind them in the room is to be overwritten

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add keys and values, (1, heads, tokens, width) each, and return all that are held."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = key_states[..., :0, :], value_states[..., :0, :]
        start, self.length = self.length, self.length + key_states.shape[-2]
        self.keys = self._with_room(self.keys, start)
        self.values = self._with_room(self.values, start)
        self.keys[..., start : self.length, :] = key_states
        self.values[..., start : self.length, :] = value_states
        return self.held()

    def held(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values of all tokens held, as views."""
        return self.keys[..., : self.length, :], self.values[..., : self.length, :]

    def get_seq_length(self) -> int:
        """How many tokens are held."""
        return self.length

    def _with_room(self, tensor: torch.Tensor, held: int) -> torch.Tensor:
        *outer, room, width = tensor.shape
        if room >= self.length:
            return tensor
        larger = tensor.new_empty((*outer, max(self.length, room + room // 4), width))
        larger[..., :held, :] = tensor[..., :held, :]
        return larger
