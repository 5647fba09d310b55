"""How far a run over questions is, on stderr: how many are done, how fast, and how good they are so far."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowwhen.evaluation.tally import Tally

EVERY = 10.0  # seconds between two lines where no line can be redrawn


@contextmanager
def scores_so_far(label: str) -> Iterator[Callable[["Tally"], None]]:
    """Show what is told of a run: a line that is redrawn on a terminal, else a new one now and then."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    screen = Console(stderr=True, highlight=False)
    clock = _Clock()
    if not screen.is_terminal:
        printed = -EVERY

        def note(tally: "Tally") -> None:
            nonlocal printed
            if clock.seconds(tally) - printed >= EVERY or tally.done == tally.total:
                printed = clock.seconds(tally)
                print(line(label, tally, printed), file=screen.file, flush=True)

        yield note
        return
    with Live(console=screen, refresh_per_second=4) as live:
        yield lambda tally: live.update(Text(line(label, tally, clock.seconds(tally))))


class _Clock:
    """Counts from the first question on."""

    def __init__(self) -> None:
        self.began = 0.0

    def seconds(self, tally: "Tally") -> float:
        self.began = self.began or time.monotonic()
        return time.monotonic() - self.began


def line(label: str, tally: "Tally", seconds: float) -> str:
    """How far a run is, in words.

    Args:
        label: the method's.
        tally: what has come of the questions.
        seconds: since this process began to ask.
    """
    said = f"{label}: {tally.done:,} of {tally.total:,} questions"
    if tally.asked and seconds > 0:
        rate = tally.asked / seconds
        said += f", {rate:.1f}/s"
        if tally.done < tally.total:
            said += f", {timedelta(seconds=round((tally.total - tally.done) / rate))} left"
    means = tally.means()
    if means:
        scores = f"EM {means['exact_match']:.3f}, F1 {means['f1']:.3f}"
        said += f"; {scores}, {means.get('retrievals', 0):.2f} retrievals"
    return said + (f", {tally.failed:,} failed" if tally.failed else "")
