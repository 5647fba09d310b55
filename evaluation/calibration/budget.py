"""What a user is ready to spend on a question."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from knowwhen.evaluation.calibration.replays.replay import Array, Flags

INDISTINCT = 0.01  # of the retrievals: a difference that nobody minds


class Budget(BaseModel, frozen=True, extra="forbid"):
    """Retrievals as a target or under a bound, and a price of retrievals and tokens; each may be left out."""

    retrievals: float | None = Field(default=None, ge=0)
    """Of a question on average, as near as can be; None: as many as pay."""
    max_retrievals: float | None = Field(default=None, ge=0)
    """Of a question on average, at most; None: any number."""
    retrieval_price: float = Field(default=0, ge=0)
    """The quality that a retrieval must bring: at 0.05 five points of F1."""
    token_price: float = Field(default=0, ge=0)
    """The quality that 1,000 tokens must bring."""

    @model_validator(mode="after")
    def _target_or_bound(self) -> Self:
        if self.retrievals is not None and self.max_retrievals is not None:
            raise ValueError("retrievals are a target and max_retrievals a bound; give one of them")
        return self

    def worth(self, quality: Array, retrievals: Array, tokens: Array) -> Array:
        """Quality less what it cost."""
        return quality - self.retrieval_price * retrievals - self.token_price * tokens / 1000

    @property
    def priced(self) -> bool:
        """Whether anything has a price."""
        return bool(self.retrieval_price or self.token_price)

    def allows(self, retrievals: Array) -> Flags:
        """Which mean numbers of retrievals keep to the bound, or come to the target or nearest to it."""
        if self.retrievals is not None:
            off = self.strays(retrievals)
            near: Flags = off <= max(INDISTINCT * self.retrievals, off.min()) + 1e-9
            return near
        bound = float("inf") if self.max_retrievals is None else self.max_retrievals + 1e-9
        return retrievals <= bound

    def strays(self, retrievals: Array) -> Array:
        """Of what is equally good the least of this is wanted: distance from the target, else retrievals."""
        return retrievals if self.retrievals is None else abs(retrievals - self.retrievals)

    def __str__(self) -> str:
        """In words."""
        told = []
        if self.retrievals is not None:
            told.append(a_question(self.retrievals))
        if self.max_retrievals is not None:
            told.append(f"at most {a_question(self.max_retrievals)}")
        if self.retrieval_price:
            told.append(f"{self.retrieval_price:g} for a retrieval")
        if self.token_price:
            told.append(f"{self.token_price:g} for 1,000 tokens")
        return ", ".join(told) or "any cost"


def a_question(retrievals: float) -> str:
    """Retrievals in words."""
    return f"{retrievals:g} retrieval{'' if retrievals == 1 else 's'} a question"
