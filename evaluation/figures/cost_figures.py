"""What a run cost a question: calls, tokens, retrievals, passages and time."""

import numpy as np
from pydantic import BaseModel

from knowwhen.evaluation.figures.columns import Columns
from knowwhen.evaluation.figures.resampling import mean_of
from knowwhen.evaluation.intervals import Figure


class Amount(BaseModel, frozen=True, extra="forbid"):
    """How much of something the questions of a run took."""

    mean: Figure
    """A question."""
    median: float
    """Of the questions."""
    total: float


class CostFigures(BaseModel, frozen=True, extra="forbid"):
    """Of the finished questions; what failed ones had cost until they failed is not known."""

    model_calls: Amount
    sequences: Amount
    """Texts sampled."""
    input_tokens: Amount
    output_tokens: Amount
    retrievals: Amount
    passages: Amount
    seconds: Amount
    """From asking to the answer. Questions run side by side, so the total is not how long the run took."""


def cost_figures(finished: Columns, seed: int = 0) -> CostFigures:
    """The cost of one question or more that did not fail.

    Args:
        finished: those questions.
        seed: of the intervals.
    """
    measured = {**finished.counts, "seconds": finished.seconds}
    return CostFigures(
        **{
            name: Amount(mean=mean_of(each, seed), median=float(np.median(each)), total=float(each.sum()))
            for name, each in measured.items()
        }
    )
