"""Processes that a test starts and that end with it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(command: list[str], **keywords: Any) -> Iterator[subprocess.Popen[str]]:
    """A process, as text; whatever becomes of the test, it is gone afterwards."""
    with subprocess.Popen(command, text=True, **keywords) as process:
        try:
            yield process
        finally:
            process.kill()
