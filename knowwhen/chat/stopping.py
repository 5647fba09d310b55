"""Ctrl-C stops what is under way, and not the chat."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn


class Stopped(Exception):
    """The user pressed Ctrl-C."""


async def stoppable(work: Coroutine[Any, Any, None]) -> None:
    """Do something; Ctrl-C cancels it.

    A model call under way is not waited for, and cannot be ended: its thread goes on until it is answered.

    Raises:
        Stopped: it was cancelled.
    """
    task, loop, pressed = asyncio.ensure_future(work), asyncio.get_running_loop(), False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        loop.call_soon_threadsafe(task.cancel)

    before = signal.signal(signal.SIGINT, press)
    try:
        await task
    except asyncio.CancelledError:
        if not pressed:
            raise
        raise Stopped from None
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def between_answers() -> Iterator[None]:
    """Let Ctrl-C do nothing where there is nothing to stop."""
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Do something; what Ctrl-C does is left as it is."""
    await work


def leave(status: int) -> NoReturn:
    """End the process now: Python would first wait for the model calls that nobody waits for any more."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
