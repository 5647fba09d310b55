"""What came of one question under one method: the line of a run's journal."""

from typing import Any

from knowwhen.evaluation.journal import Finished


class Outcome(Finished, frozen=True, extra="forbid"):
    """A question that was answered, or that failed."""

    metadata: dict[str, Any]
    """What the dataset says of the question: `kind`, `hops`, …"""
    output: dict[str, Any] | None
    """All that the method gave back (`knowwhen.nodes.state.Answer`); None: it failed."""
    metrics: dict[str, float]
    """Each in [0, 1]: `exact_match`, `f1`, `contains`, and what else was asked for; empty: it failed."""
    seconds: float
    """From asking to the answer."""
    error: str
    """What the question failed of, on one line; empty: it did not."""
