"""A run that is called off asks nothing more.

A task can be cancelled and a thread cannot, but the threads that work for a task can look whether it still
waits for them: before each request, and while they wait for anything.
"""

import threading
import time
from asyncio import CancelledError
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import ContextVar, copy_context
from typing import TypeVar

LOOK = 0.1  # seconds between two looks

CALLED_OFF: ContextVar[threading.Event | None] = ContextVar("called_off", default=None)
"""Set once nobody waits any more; None where nobody could tell, in a run that is not asynchronous."""

T = TypeVar("T")


def go_on() -> None:
    """Nothing, as long as somebody waits for this thread.

    Raises:
        CancelledError: nobody does. It is no `Exception`, so that no fallback takes it for a failure.
    """
    event = CALLED_OFF.get()
    if event is not None and event.is_set():
        raise CancelledError


def pause(seconds: float) -> None:
    """Sleep; a run that is called off sleeps no longer."""
    event = CALLED_OFF.get()
    if event is None:
        time.sleep(seconds)
    else:
        event.wait(seconds)


def result_of(future: Future[T]) -> T:
    """What becomes of it, as long as somebody waits: a loop that has ended finishes nothing any more."""
    while not future.done():
        go_on()
        wait([future], LOOK)
    go_on()
    if future.cancelled():  # with everything else in its loop
        raise CancelledError
    return future.result()


def left_alone(work: Callable[[], T]) -> T:
    """The result of work that could wait for a loop, and would wait for ever for one that has ended.

    Then the thread that does it is left to itself, and ends with the process.
    """
    go_on()
    if CALLED_OFF.get() is None:
        return work()
    future = Future[T]()
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001  # it is raised in the thread that waits
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="knowwhen-write").start()
    return result_of(future)
