"""A number with its interval."""

from pydantic import BaseModel


class Figure(BaseModel, frozen=True, extra="forbid"):
    """A number and the percentile interval that 95 % of its resamples fall into."""

    value: float
    low: float | None
    """None, as `high` is, where a sample has fewer than two values."""
    high: float | None
