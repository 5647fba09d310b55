"""A method that several processes answer by: one interpreter makes some hundred requests a second, no more.

Every question goes to the process that has the fewest under way; what comes back is scored and kept here.
"""

import asyncio
import itertools
import multiprocessing
import os
import pickle
import signal
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Protocol

from pydantic_core import to_jsonable_python

from knowwhen.models.errors import KnowwhenError, SettingsError

THREADS = 64  # of a process, for nodes of foreign graphs that are not asynchronous

Output = dict[str, Any]


class Answering(Protocol):
    """What a run needs of a method: a graph, or processes that each have one."""

    def ainvoke(self, input: Any, /) -> Coroutine[Any, Any, Any]:
        """The output to an input."""


@contextmanager
def in_processes(build: Callable[[], Answering], processes: int) -> Iterator[Answering]:
    """A method that so many processes answer by, as long as the context lasts.

    Each process builds the method for itself, so a local model is loaded as often. Recording and replaying
    need the calls in the run's own process and are not to be had with it.

    Args:
        build: makes the method; a function of a module, or a `functools.partial` of one, as processes start
            anew. A script that calls this needs `if __name__ == "__main__":`.
        processes: 1 or more.

    Raises:
        SettingsError: processes below 1.
        KnowwhenError: what `build` raised in a process; or one of them ended.
    """
    if processes < 1:
        raise SettingsError(f"processes must be at least 1, not {processes}")
    with ExitStack() as open_:
        crew = [open_.enter_context(_begun(build)) for _ in range(processes)]
        for worker in crew:
            worker.wait_until_built()
        yield _Crew(crew)


class _Crew:
    def __init__(self, workers: "list[_Worker]") -> None:
        self._workers = workers

    async def ainvoke(self, input: Any, /) -> Output:
        """Have it answered by the process that has the least to do."""
        return await min(self._workers, key=lambda each: each.under_way).answer(input)


@dataclass(frozen=True)
class _Waiting:
    loop: AbstractEventLoop
    output: "Future[Output]"

    def settle(self, output: Output | None, error: BaseException | None) -> None:
        """From the thread that listens to the process; nobody may wait any longer."""

        def settle() -> None:
            if self.output.done():
                return
            if error is not None:
                self.output.set_exception(error)
            else:
                self.output.set_result(output or {})

        try:
            self.loop.call_soon_threadsafe(settle)
        except RuntimeError:  # its loop is closed: the run was stopped
            return


class _Worker:
    """This side of a process."""

    def __init__(self, process: SpawnProcess, connection: Connection) -> None:
        self._process = process
        self._connection = connection
        self._numbers = itertools.count()
        self._waiting: dict[int, _Waiting] = {}
        self._lock = threading.Lock()
        self._ended = False

    @property
    def under_way(self) -> int:
        """Questions."""
        return len(self._waiting)

    def wait_until_built(self) -> None:
        """Wait for the method, and listen to what comes from then on."""
        try:
            error = self._connection.recv()
        except EOFError:
            error = self._end()
        if error is not None:
            raise error
        threading.Thread(target=self._listen, daemon=True, name="knowwhen listening").start()

    async def answer(self, asked: Any) -> Output:
        """The output to a question."""
        loop = asyncio.get_running_loop()
        number, waiting = next(self._numbers), _Waiting(loop, loop.create_future())
        with self._lock:
            if self._ended:
                raise self._end()
            self._waiting[number] = waiting
        try:
            self._connection.send((number, asked))
        except OSError:
            raise self._end() from None
        return await waiting.output

    def _listen(self) -> None:
        try:
            while True:
                number, output, error = self._connection.recv()
                self._waiting.pop(number).settle(output, error)
        except (EOFError, OSError):
            with self._lock:
                self._ended = True
                left, self._waiting = self._waiting, {}
            for waiting in left.values():
                waiting.settle(None, self._end())

    def _end(self) -> KnowwhenError:
        self._process.join(1)
        status = self._process.exitcode
        return KnowwhenError(f"a process that answers has ended (status {status}); run again to go on")


@contextmanager
def _begun(build: Callable[[], Answering]) -> Iterator[_Worker]:
    # Not forked: what torch and HTTP clients hold does not outlive a fork.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(build, theirs), daemon=True, name="knowwhen answering")
    process.start()
    theirs.close()
    try:
        yield _Worker(process, ours)
    finally:
        process.terminate()
        process.join()
        ours.close()


def _serve(build: Callable[[], Answering], connection: Connection) -> None:
    """The other side: answer what comes, all at once, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, whose end closes the pipe
    try:
        method = build()
    except BaseException as error:  # noqa: BLE001  # it is raised in the run's process
        connection.send(_sendable(error))
        return
    connection.send(None)
    asyncio.run(_answer_all(method, connection))
    os._exit(0)  # nobody waits for what is still under way


async def _answer_all(method: Answering, connection: Connection) -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS))
    ended = asyncio.Event()
    under_way: set[asyncio.Task[None]] = set()

    async def answer(number: int, asked: Any) -> None:
        output, failure = None, None
        try:
            output = to_jsonable_python(await method.ainvoke(asked))
        except Exception as error:  # noqa: BLE001  # it is raised in the run's process
            failure = _sendable(error)
        connection.send((number, output, failure))

    def begin(number: int, asked: Any) -> None:
        task = loop.create_task(answer(number, asked))
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    def listen() -> None:
        try:
            while True:
                loop.call_soon_threadsafe(begin, *connection.recv())
        except (EOFError, OSError):
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=listen, daemon=True).start()
    await ended.wait()


def _sendable(error: BaseException) -> BaseException:
    """An error as it is, or what it says where it cannot travel: many clients' errors do not survive it."""
    try:
        same: BaseException = pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  # pickling may raise anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return same
