"""A run of a method in a process of its own, which may be killed in the middle of any call: kill -9.

    life("keqa", folder, kill_at=3)   # ends in the third call of a model or retriever
    output = life("keqa", folder)     # goes on and ends
    log = read_log(folder)            # which calls both lives began, and which were answered

What a life does is decided by `method_worlds.py`; the graph's state is in SQLite, in the folder.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from method_worlds import WORLDS
from self_dc_script import Shelf

THREAD: Any = {"configurable": {"thread_id": "1"}}
LAST_BREATH = 0.5  # seconds between the fatal call and the kill, in which what was answered before is written
# Each is forked from one process that has loaded what takes long, and has no threads.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["knowwhen.graphs", "langgraph.checkpoint.sqlite.aio", "faiss"])


@dataclass
class Log:
    """What was asked of the model and the retriever, and how often."""

    begun: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    @property
    def in_flight(self) -> Counter[str]:
        """What a kill left without an answer."""
        return self.begun - self.answered


def read_log(folder: Path) -> Log:
    """Of all lives so far."""
    log = Log()
    for line in (folder / "log.jsonl").read_text().splitlines():
        event, asked = json.loads(line)
        getattr(log, event)[asked] += 1
    return log


def life(method: str, folder: Path, kill_at: int = 0, way: str = "invoke") -> dict[str, Any]:
    """Begin the run of this folder, or go on with it.

    Args:
        method: of `WORLDS`.
        folder: of the log and the database.
        kill_at: the call in which this life ends, counted from 1; 0: it lives.
        way: `invoke` or `ainvoke`.

    Returns:
        The output; nothing of a life that was killed.
    """
    process = _PROCESSES.Process(target=_live, args=(method, folder, kill_at, way))
    process.start()
    process.join()
    assert process.exitcode == (-signal.SIGKILL if kill_at else 0)
    return {} if kill_at else json.loads((folder / "output.json").read_text())


class _Clock:
    """Writes the log, and ends the process in the midst of a call."""

    def __init__(self, path: Path, kill_at: int) -> None:
        self.path, self.kill_at, self.calls = path, kill_at, 0
        self.lock, self.dying = threading.Lock(), threading.Event()

    @contextmanager
    def call(self, asked: str) -> Iterator[None]:
        with self.lock:
            self.calls += 1
            if self.calls == self.kill_at:
                self.dying.set()
                threading.Timer(LAST_BREATH, os.kill, (os.getpid(), signal.SIGKILL)).start()
            self.write("begun", asked)
        time.sleep(0.02)  # so that calls are in flight side by side
        yield
        with self.lock:
            if not self.dying.is_set():
                self.write("answered", asked)
                return
        time.sleep(60)  # no call is answered any more

    def write(self, event: str, asked: str) -> None:
        with self.path.open("a") as log:
            log.write(json.dumps([event, asked]) + "\n")


def _live(method: str, folder: Path, kill_at: int, way: str) -> None:
    clock, world = _Clock(folder / "log.jsonl", kill_at), WORLDS[method]

    class Watched(world.model):  # type: ignore[name-defined]  # of the kind that the world's script is for
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            how = {name: kwargs.get(name) for name in ("n", "temperature")}
            with clock.call(json.dumps([[str(each.text) for each in messages], how])):
                return super()._generate(messages, *args, **kwargs)

    class WatchedShelf(Shelf):
        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int = 3
        ) -> list[Document]:
            with clock.call(query):
                return super()._get_relevant_documents(query, run_manager=run_manager, k=k)

    graph = world.build(Watched(world.script), WatchedShelf())
    database = str(folder / "state.sqlite")
    asked: Any = {"question": world.question}
    if way == "invoke":
        with SqliteSaver.from_conn_string(database) as saver:
            kept = graph.copy(update={"checkpointer": saver})
            begun = kept.get_state(THREAD).next
            output = kept.invoke(None if begun else asked, THREAD, durability="sync")
    else:
        output = asyncio.run(_alive(graph, database, asked))
    (folder / "output.json").write_text(json.dumps(output))


async def _alive(graph: Any, database: str, asked: Any) -> Any:
    async with AsyncSqliteSaver.from_conn_string(database) as saver:
        kept = graph.copy(update={"checkpointer": saver})
        begun = (await kept.aget_state(THREAD)).next
        return await kept.ainvoke(None if begun else asked, THREAD, durability="sync")
