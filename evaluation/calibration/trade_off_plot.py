"""A gate's trade-off as a picture: quality against retrievals."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure  # of the extra `training`

from knowwhen.evaluation.calibration.replays.replay import Replay
from knowwhen.evaluation.calibration.search import Found
from knowwhen.evaluation.calibration.trade_off import means, on_front
from knowwhen.evaluation.journal import unwritable


def plot_trade_off(replay: Replay, found: Found, metric: str, title: str, out: Path) -> None:
    """Draw every threshold, the front, both extremes, chance between them, and the choice with its interval.

    Args:
        replay: what is drawn.
        found: the choice among it.
        metric: its name, for the axis.
        title: above the picture.
        out: the PNG to write.

    Raises:
        KnowwhenError: the file cannot be written.
    """
    table = means(replay)
    quality, retrievals = table[:, 0], table[:, 1]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.scatter(retrievals, quality, s=4, color="0.75", label="every threshold")
    front = np.flatnonzero(on_front(quality, retrievals))
    front = front[np.argsort(retrievals[front])]
    axes.plot(retrievals[front], quality[front], color="tab:blue", drawstyle="steps-post", label="front")
    ends = [(each.retrievals.mean(), each.quality.mean()) for each in (replay.never, replay.always)]
    axes.plot(*zip(*ends, strict=True), "k--", linewidth=1, marker="s", label="never, chance, always")
    expected = found.expected.quality
    low, high = (expected.value if end is None else end for end in (expected.low, expected.high))
    axes.errorbar(
        found.expected.retrievals.value,
        expected.value,
        yerr=[[max(0.0, expected.value - low)], [max(0.0, high - expected.value)]],
        fmt="o",
        color="tab:red",
        capsize=3,
        label="chosen, on held-out questions",
    )
    axes.set(xlabel="retrievals a question", ylabel=metric, title=title)
    axes.legend()
    try:
        figure.savefig(out, dpi=120)
    except OSError as error:
        raise unwritable(out, error) from None
