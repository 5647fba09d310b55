"""A question being answered, as it is seen from the page."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from knowwhen.events import aevents_of
from knowwhen.models.errors import KnowwhenError
from knowwhen.ui.request import Library, Request

State = Literal["loading", "asking", "answered", "stopped", "failed"]
_numbers = count(1)


@dataclass
class Run:
    """How far an answer has come."""

    request: Request
    number: int = field(default_factory=lambda: next(_numbers))
    """Which run of this process it is, so that no two steps on a page have one name."""
    state: State = "loading"
    error: str = ""
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is known of each question, by its id: fields of a `Step`, all of them once it is answered."""
    output: dict[str, Any] = field(default_factory=dict)
    """What the method gave back; empty until then."""
    task: "asyncio.Task[None] | None" = field(default=None, repr=False)
    """That asks."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("answered", "stopped", "failed")

    def stop(self) -> None:
        """Ask nothing more."""
        if self.task is not None:
            self.task.cancel()

    def take(self, event: dict[str, Any]) -> None:
        """Take in an event (`knowwhen.events`)."""
        kind = event["event"]
        told = {name: value for name, value in event.items() if name != "event"}
        if kind == "answer":
            self.output, self.state = told, "answered"
            return
        row = self.rows.setdefault(told["id"], {"parent": told["id"].rpartition(".")[0] or None})
        row.update(told)


async def answering(library: Library, *requests: Request) -> AsyncGenerator[tuple[Run, ...], None]:
    """Ask, several at once if there are several, and tell how far they are whenever one has come further.

    Given are always the same runs, further on. What fails ends its own run, with one line. Left early, it
    stops what is under way: no node is begun any more.
    """
    runs = tuple(map(Run, requests))
    news: asyncio.Queue[bool] = asyncio.Queue()  # whether the run that has come further goes on
    for run in runs:  # tasks of their own: this generator may be read from another task each time
        run.task = asyncio.create_task(_follow(library, run, news))
    try:
        yield runs
        under_way = len(runs)
        while under_way:
            told = [await news.get()]
            while not news.empty():
                told.append(news.get_nowait())
            under_way -= told.count(False)
            yield runs
        for run in runs:
            if run.task is not None and not run.task.cancelled():
                await run.task  # raises what is no error of ours
    finally:
        for run in runs:
            run.stop()


async def _follow(library: Library, run: Run, news: asyncio.Queue[bool]) -> None:
    """Ask, and put down how far it is. Loading is left to a thread, so that other pages go on."""
    try:
        run.request.check()
        graph = await asyncio.to_thread(library.graph, run.request)
        run.state = "asking"
        news.put_nowait(True)
        async for event in aevents_of(graph, run.request.question.strip()):
            run.take(event)
            news.put_nowait(True)
    except KnowwhenError as error:
        run.state, run.error = "failed", str(error)
    except asyncio.CancelledError:
        run.state = "stopped"
        raise
    finally:
        if not run.ended:
            run.state, run.error = "failed", "it broke off; the terminal says why"
        news.put_nowait(False)
