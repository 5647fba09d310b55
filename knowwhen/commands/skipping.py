"""What `--skip-bad` does: count the records that are no question, and say so in the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from knowwhen.evaluation.datasets import Skipped


@contextmanager
def skipping(skip_bad: bool) -> Iterator["Skipped | None"]:
    """Give what `read_dataset` counts bad records with, and tell on stderr what was left out.

    Args:
        skip_bad: whether to go on without them; if not, the first ends the reading, and None is given.
    """
    from knowwhen.evaluation.datasets import Skipped

    skipped = Skipped() if skip_bad else None
    yield skipped
    if skipped is not None and skipped.count:
        typer.echo(str(skipped), err=True)
