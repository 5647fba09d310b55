"""How far the reading of a corpus has come, on stderr: share, rate and time left."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowwhen.tools.corpus import Corpus
    from knowwhen.tools.entry import Entry


def shown(corpus: "Corpus") -> Iterator["Entry"]:
    """Yield the entries of a corpus and show the progress."""
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
        count = 0
        for count, entry in enumerate(corpus, start=1):
            yield entry
            if count % 1000 == 0:
                elapsed = progress.tasks[0].elapsed or 1.0
                progress.update(task, completed=corpus.bytes_read, passages=count, rate=count / elapsed)
        elapsed = progress.tasks[0].elapsed or 1.0
        progress.update(task, completed=corpus.total_bytes, passages=count, rate=count / elapsed)
