"""How far a long run has come, on stderr: share, rate and time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowwhen.tools.corpus import Corpus
    from knowwhen.tools.entry import Entry

STEP = 500
"""Passages between two updates."""


@contextmanager
def shown(corpus: "Corpus") -> Iterator[Iterator["Entry"]]:
    """Give the entries of a corpus, and show the progress of the body that takes them."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("indexing"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[passages]:,} passages, {task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=corpus.total_bytes, passages=0, rate=0.0)

        def update(passages: int) -> None:
            rate = passages / (progress.tasks[0].elapsed or 1.0)
            progress.update(task, completed=corpus.bytes_read, passages=passages, rate=rate)

        def entries() -> Iterator["Entry"]:
            passages = 0
            for passages, entry in enumerate(corpus, start=1):
                yield entry
                if passages % STEP == 0:
                    update(passages)
            update(passages)

        yield entries()


@contextmanager
def questions_done(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many questions of all are done, their rate and the time left, as what is given is told."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(doing),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} questions, {task.fields[rate]:.1f}/s"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True))
    before = 0  # done in earlier runs

    def report(done: int, total: int) -> None:
        nonlocal before
        if not progress.tasks:
            before = done
            progress.add_task("", total=total, completed=done, rate=0.0)
            progress.start()
        rate = (done - before) / (progress.tasks[0].elapsed or 1.0)
        progress.update(progress.tasks[0].id, completed=done, rate=rate)

    try:
        yield report
    finally:
        if progress.tasks:
            progress.stop()
