"""How exactly the retrievals of new questions are known.

Both the questions that thresholds are chosen by and those that they then meet are drawn, n of each. If a
question's retrievals have the standard deviation s, the two means differ by s √(2/n).
"""

import math

from pydantic import BaseModel

from knowwhen.evaluation.calibration.search import SHOWN, Found

WANTED = 0.15  # of the retrievals, either way


class Precision(BaseModel, frozen=True, extra="forbid"):
    """What retrievals can be expected, 19 of 20 times, on as many new questions."""

    retrievals: float
    """A question, on average."""
    within: float
    """Either way, as a share of them."""
    questions: int
    """By how many, and how many new ones, they would be known to `WANTED`."""

    def __str__(self) -> str:
        """In one plain sentence."""
        told = (
            "On as many new questions retrievals can be expected "
            f"within ±{math.ceil(100 * self.within)} % of {self.retrievals:.2f}, 19 of 20 times"
        )
        if self.within > WANTED:
            told += (
                f"; for ±{100 * WANTED:.0f} % it takes about {_rounded_up(self.questions):,} to calibrate on "
                "and as many new ones"
            )
        return f"{told}."


def precision(found: Found, number: int) -> Precision | None:
    """How exactly the retrievals are known; None where no question is looked up, or all are alike.

    Args:
        found: the thresholds.
        number: of the questions that they were chosen by.
    """
    retrievals = found.seen[1]
    if not retrievals or not found.spread:
        return None
    one = math.sqrt(2) * SHOWN * found.spread / retrievals  # by a single question
    return Precision(
        retrievals=retrievals, within=one / math.sqrt(number), questions=math.ceil((one / WANTED) ** 2)
    )


def _rounded_up(number: int) -> int:
    """To two digits."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit
