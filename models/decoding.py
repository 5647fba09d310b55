"""How the next token is chosen: the settings of one request, and the choice itself."""

from dataclasses import dataclass
from typing import Self

import torch
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from knowwhen.models.errors import ModelError


class Decoding(BaseModel):
    """Settings of one request, with OpenAI's names; nothing is taken from the model's generation config.

    Greedy unless a temperature is given, so that what is not asked for is not random.
    """

    model_config = ConfigDict(extra="forbid")

    temperature: float = Field(default=0.0, ge=0, description="0 takes the likeliest token at every step")
    top_p: float | None = Field(
        default=None, gt=0, le=1, description="sample from the likeliest tokens of this mass"
    )
    top_k: int | None = Field(default=None, ge=1, description="sample from this many likeliest tokens")
    max_tokens: int = Field(
        default=256, ge=1, description="new tokens at most, cut to what the context has room for"
    )
    n: int = Field(
        default=1, ge=1, description="samples of one prompt in one call; more than 1 needs a temperature"
    )
    logprobs: bool = Field(default=False, description="report the log-probability of every token")
    top_logprobs: int = Field(
        default=0, ge=0, le=20, description="alternatives a token, read when logprobs is true"
    )
    seed: int | None = Field(
        default=None, description="same seed, same samples; fresh randomness without one"
    )
    stop: list[str] = Field(default_factory=list, description="strings that end the answer before themselves")

    @field_validator("stop", mode="before")
    @classmethod
    def _as_list(cls, stop: object) -> object:
        if stop is None:
            return []
        return [stop] if isinstance(stop, str) else stop

    @model_validator(mode="after")
    def _ends_and_varies(self) -> Self:
        if "" in self.stop:
            raise ValueError("an empty stop string would end every answer at once; leave it out")
        if self.n > 1 and self.temperature == 0:
            raise ValueError(
                f"n={self.n} samples at temperature 0 are all the same; give a temperature above 0"
            )
        return self


@dataclass(frozen=True, slots=True)
class Choice:
    """One chosen token.

    Attributes:
        token: its id.
        logprob: natural log of its probability under the model as it is, that is at temperature 1 and before
            top-p and top-k; None if not asked for.
        top: the likeliest tokens of this step with their log-probabilities, likeliest first.
        normaliser: ln Σ exp(z) over the logits z of the vocabulary, with `logprob`.
    """

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()
    normaliser: float | None = None


def choose(logits: torch.Tensor, decoding: Decoding, draws: list[float]) -> list[Choice]:
    """Choose one token a row.

    Args:
        logits: (rows, vocabulary), float32.
        decoding: the request's settings.
        draws: a number in [0, 1) for every row, read when sampling.

    Raises:
        ModelError: the logits overflowed, so that any choice would be meaningless.
    """
    best = logits.max(dim=-1)
    if not best.values.isfinite().all():
        raise ModelError("the model's numbers overflowed; load it with dtype='float32' or dtype='bfloat16'")
    tokens = sample(logits - best.values[:, None], decoding, draws) if decoding.temperature else best.indices
    ids: list[int] = tokens.tolist()
    if not decoding.logprobs:
        return [Choice(token) for token in ids]
    normaliser = logits.logsumexp(dim=-1, keepdim=True)
    own = (logits.gather(-1, tokens[:, None]) - normaliser).squeeze(-1).tolist()
    top, top_ids = logits.topk(min(decoding.top_logprobs, logits.shape[-1]), dim=-1)
    tops = zip(top_ids.tolist(), (top - normaliser).tolist(), strict=True)
    return [
        Choice(token, logprob, tuple(zip(others, logprobs, strict=True)), total)
        for token, logprob, (others, logprobs), total in zip(
            ids, own, tops, normaliser.squeeze(-1).tolist(), strict=True
        )
    ]


def sample(logits: torch.Tensor, decoding: Decoding, draws: list[float]) -> torch.Tensor:
    """Sample one token a row by inverting the cumulative distribution at `draws`; returns ids, (rows,).

    The draws come from the caller, so no generator of torch is read or moved, and a seed means the same on
    every device. The largest of each row of `logits` is 0, so that no temperature makes it overflow.
    """
    scaled = logits / decoding.temperature
    order = None
    if decoding.top_k is not None or decoding.top_p is not None:
        kept = min(decoding.top_k or scaled.shape[-1], scaled.shape[-1])
        scaled, order = scaled.topk(kept, dim=-1)
    mass = scaled.softmax(dim=-1).cumsum(dim=-1)
    total = mass[:, -1]
    if decoding.top_p is not None:
        nucleus = torch.full_like(total, decoding.top_p)[:, None]
        last = torch.searchsorted(mass, nucleus).clamp_(max=mass.shape[-1] - 1)
        total = mass.gather(-1, last).squeeze(-1)
    targets = torch.tensor(draws, dtype=mass.dtype, device=mass.device) * total
    below = torch.minimum(targets, total.nextafter(torch.zeros_like(total)))  # a draw may round up to 1
    picked = torch.searchsorted(mass, below[:, None], right=True)
    return (picked if order is None else order.gather(-1, picked)).squeeze(-1)
