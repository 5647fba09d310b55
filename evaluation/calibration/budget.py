"""What a user is ready to spend on a question."""

from pydantic import BaseModel, Field

from knowwhen.evaluation.calibration.replays.replay import Array, Flags


class Budget(BaseModel, frozen=True, extra="forbid"):
    """A bound on retrievals, a price of retrievals and tokens, both or neither."""

    max_retrievals: float | None = Field(default=None, ge=0)
    """Of a question on average, at most; None: any number."""
    retrieval_price: float = Field(default=0, ge=0)
    """The quality that a retrieval must bring: at 0.05 five points of F1."""
    token_price: float = Field(default=0, ge=0)
    """The quality that 1,000 tokens must bring."""

    def worth(self, quality: Array, retrievals: Array, tokens: Array) -> Array:
        """Quality less what it cost."""
        return quality - self.retrieval_price * retrievals - self.token_price * tokens / 1000

    @property
    def priced(self) -> bool:
        """Whether anything has a price."""
        return bool(self.retrieval_price or self.token_price)

    def allows(self, retrievals: Array) -> Flags:
        """Which mean numbers of retrievals are within the bound."""
        bound = float("inf") if self.max_retrievals is None else self.max_retrievals + 1e-9
        return retrievals <= bound

    def __str__(self) -> str:
        """In words."""
        told = (
            [f"at most {self.max_retrievals:g} retrievals a question"]
            if self.max_retrievals is not None
            else []
        )
        if self.retrieval_price:
            told.append(f"{self.retrieval_price:g} for a retrieval")
        if self.token_price:
            told.append(f"{self.token_price:g} for 1,000 tokens")
        return ", ".join(told) or "any cost"
