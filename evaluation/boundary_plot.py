"""A boundary report as a picture: Confident Knowledge beside Knowledge Gap (TAIKC, Figure 9)."""

import math
from pathlib import Path

from matplotlib.figure import Figure  # of the extra `training`

from knowwhen.evaluation.boundary import BoundaryReport
from knowwhen.evaluation.boundary_figures import Scores
from knowwhen.evaluation.journal import unwritable

WIDTH = 0.4  # of a bar; a dataset has two


def plot_boundary(report: BoundaryReport, out: Path) -> None:
    """Draw the F1 of both for every dataset, with its interval.

    The paper's Figure 9 says accuracy, and the averages told of it are those of F1 in its Table 4.

    Args:
        report: with one dataset or more.
        out: the PNG to write.

    Raises:
        KnowwhenError: the file cannot be written.
    """
    blocks = report.blocks
    figure = Figure(figsize=(max(4.0, 1.5 + 1.5 * len(blocks)), 3.5), layout="constrained")
    axes = figure.subplots()
    for shift, name, group in (
        (-WIDTH / 2, "Confident Knowledge", [each.confident for each in blocks]),
        (WIDTH / 2, "Knowledge Gap", [each.knowledge_gap for each in blocks]),
    ):
        heights, below, above = zip(*map(_bar, group), strict=True)
        places = [place + shift for place in range(len(blocks))]
        bars = axes.bar(places, heights, WIDTH, yerr=(below, above), capsize=3, label=name)
        axes.bar_label(bars, [str(each.number) for each in group], label_type="center")
    axes.set_xticks(range(len(blocks)), [Path(each.dataset).name for each in blocks])
    axes.set(ylabel="F1", ylim=(0, 1), title=f"{report.model}, with the number of questions")
    axes.legend()
    try:
        figure.savefig(out, dpi=120)
    except OSError as error:
        raise unwritable(out, error) from None


def _bar(scores: Scores) -> tuple[float, float, float]:
    """Height, and how far the interval reaches below and above; no bar where there are no questions."""
    f1 = scores.f1
    if f1 is None:
        return math.nan, 0.0, 0.0
    if f1.low is None or f1.high is None:
        return f1.value, 0.0, 0.0
    return f1.value, max(0.0, f1.value - f1.low), max(0.0, f1.high - f1.value)
