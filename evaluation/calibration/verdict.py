"""What a calibration comes to, in plain sentences."""

import numpy as np

from knowwhen.evaluation.calibration.budget import Budget, a_question
from knowwhen.evaluation.calibration.search import Found
from knowwhen.evaluation.intervals import Figure

FAR = 0.05  # of the retrievals asked for


def verdict(found: Found, metric: str) -> str:
    """Whether the gate is worth having: by the intervals of its gains on held-out questions.

    Args:
        found: the thresholds and their gains.
        metric: what the quality is called.
    """
    gain = found.gain
    over_never = f"{metric} {_told(gain.over_never)} against never retrieving"
    over_always = (
        f"{metric} {_told(gain.over_always)} against always retrieving, with "
        f"{gain.retrievals_saved.value:.2f} retrievals a question less"
    )
    figures = f"{over_never}; {over_always}."
    reasons = []
    if gain.over_chance is not None and not above(gain.over_chance):
        reasons.append("it does no better than looking as many questions up at random")
    if not above(gain.over_never) and found.expected.retrievals.value > 0:
        reasons.append("it does no better than never retrieving")
    if not above(gain.over_always) and not above(gain.retrievals_saved):
        reasons.append("it neither does better than always retrieving nor retrieves less")
    if reasons:
        return f"No gain is shown: {'; '.join(reasons)} (95 %). {figures}"
    return f"The gate gains: {figures}"


def unmet(found: Found, budget: Budget) -> str:
    """That no thresholds come near the target or keep to the bound, with what there is; empty where they do.

    So it is where many questions have one score, or where even all retrieving costs less than the target.
    """
    taken, target, bound = found.seen[1], budget.retrievals, budget.max_retrievals
    if target is not None and budget.strays(np.array(taken)) > FAR * target:
        return f"No thresholds come near {a_question(target)}; the nearest take {taken:.2f}."
    if bound is not None and not budget.allows(np.array(taken)):
        return f"No thresholds keep to {a_question(bound)}; the fewest are {taken:.2f}."
    return ""


def above(figure: Figure) -> bool:
    """Whether a figure is shown to be above zero."""
    return figure.low is not None and figure.low > 0


def _told(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return f"{figure.value:+.3f}"
    return f"{figure.value:+.3f} [{figure.low:+.3f}, {figure.high:+.3f}]"
