"""One prompt and its branches, the answers to it, in one key-value cache.

The answers grow side by side as tokens of one sequence: a mask lets each token see the prompt and the earlier
tokens of its own branch, and explicit positions count each branch on from the prompt's end. So the prompt is
computed and held once, however many branches there are.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache

from knowwhen.models.key_values import KeyValues, Layers
from knowwhen.models.prefixes import shared
from knowwhen.models.weights import Weights

PROMPT, PRUNED = -1, -2  # whose a token in the cache is, beside the numbers of the branches


class Trunk:
    """The cache of one prompt after another. Whoever uses it holds the weights' lock, in inference mode.

    Of a model without an output layer, its last states stand wherever this speaks of logits.

    Attributes:
        prompt: the tokens of the prompt that is held.
    """

    def __init__(self, weights: Weights):
        self.prompt: list[int] = []
        self._weights = weights
        self._cache = Cache(layer_class_to_replicate=KeyValues)
        self._branches = self._integers([])  # of every token held, (tokens,)
        self._positions = self._integers([])

    def read(self, prompt: Sequence[int], chunk: int, known: Layers | None = None) -> Iterator[torch.Tensor]:
        """Hold another prompt; what it shares with the one before is not computed again.

        Args:
            prompt: its tokens, at least one.
            chunk: how many tokens go through the model at once.
            known: keys and values of its first tokens, from another time.

        Yields:
            After each chunk the logits of the token that follows, (1, vocabulary), float32; those after the
            last chunk follow the prompt.
        """
        weights = self._weights
        kept = shared(self.prompt, prompt)
        self._shorten(kept)
        if known and known[0][0].shape[-2] > kept:
            for number, (keys, values) in enumerate(known):
                self._cache.update(keys[..., kept:, :], values[..., kept:, :], number)
            kept = known[0][0].shape[-2]
        if kept == len(prompt):  # the last token is computed again, for what follows it
            kept -= 1
            self._shorten(kept)
        self.prompt = list(prompt[:kept])
        for start in range(kept, len(prompt), chunk):
            tokens = prompt[start : start + chunk]
            output = weights.model(
                input_ids=self._integers(tokens)[None],
                past_key_values=self._cache,
                use_cache=True,
                **weights.last_logits_only,
            )
            self.prompt += tokens
            yield output[0][0, -1:].float()
        self._branches = torch.full_like(self._integers(prompt), PROMPT)
        self._positions = torch.arange(len(prompt), device=self._branches.device)

    def grow(self, tokens: list[int], branches: list[int], positions: list[int]) -> torch.Tensor:
        """Add tokens to branches and compute what follows each: logits, (tokens, vocabulary), float32.

        Args:
            tokens: new tokens; those of one branch in their order.
            branches: the number of the branch that each belongs to, from 0.
            positions: the place of each in its branch's sequence, the prompt's first token being at 0.
        """
        weights = self._weights
        self._branches = torch.cat([self._branches, self._integers(branches)])
        self._positions = torch.cat([self._positions, self._integers(positions)])
        output = weights.model(
            input_ids=self._integers(tokens)[None],
            position_ids=self._positions[None, -len(tokens) :],
            attention_mask=self._mask(len(tokens)),
            past_key_values=self._cache,
            use_cache=True,
        )
        logits: torch.Tensor = output[0][0].float()
        return logits

    def prune(self, branch: int, keep: int) -> int:
        """Hide all but the first `keep` tokens of a branch; returns how many of them are held."""
        held = (self._branches == branch).nonzero().squeeze(-1)
        self._branches[held[keep:]] = PRUNED
        return min(keep, len(held))

    def cut_branches(self) -> None:
        """Go back to the prompt alone."""
        self._shorten(len(self.prompt))

    def beginning(self, tokens: int) -> Layers:
        """Copies of the keys and values of the prompt's first tokens."""
        layers = (layer.held() for layer in self._cache.layers)
        return [(keys[..., :tokens, :].clone(), values[..., :tokens, :].clone()) for keys, values in layers]

    def _shorten(self, tokens: int) -> None:
        for layer in self._cache.layers:
            layer.length = tokens
        self._branches, self._positions = self._branches[:tokens], self._positions[:tokens]

    def _mask(self, new: int) -> Any:
        """What the last `new` tokens see: added to attention scores, (1, 1, new, tokens held).

        A model with layers of several kinds takes one mask for each kind.
        """
        branches, positions = self._branches[-new:, None], self._positions[-new:, None]
        own = (self._branches == PROMPT) | (self._branches == branches)
        seen = own & (self._positions <= positions)
        config = self._weights.model.config.get_text_config()
        window = getattr(config, "sliding_window", None)
        near = seen if window is None else seen & (self._positions > positions - window)
        kinds = set(getattr(config, "layer_types", None) or ())
        if "sliding_attention" in kinds:
            return {"full_attention": self._added(seen), "sliding_attention": self._added(near)}
        return self._added(seen if kinds else near)

    def _added(self, seen: torch.Tensor) -> torch.Tensor:
        dtype = self._weights.model.dtype
        mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        return mask.masked_fill_(~seen, torch.finfo(dtype).min)[None, None]

    def _integers(self, numbers: Sequence[int]) -> torch.Tensor:
        return torch.tensor(numbers, dtype=torch.long, device=self._weights.model.device)
