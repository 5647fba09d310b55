"""Ctrl-C that stops at once, for commands with nothing to lose."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # the shell's status for a process stopped by Ctrl-C
SHOW_CURSOR = "\x1b[?25h"


@contextmanager
def stopping_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process now: Python would first wait for every model call still under way."""

    def stop(number: int, frame: FrameType | None) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(SHOW_CURSOR + "\n")
        sys.stderr.write("knowwhen: stopped\n")
        sys.stderr.flush()
        os._exit(INTERRUPTED)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
