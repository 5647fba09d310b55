"""What each open page is asking: one question at a time, which Stop and the next question end."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from knowwhen.ui.request import Library, Request
from knowwhen.ui.run import Run, answering


class Desk:
    """The runs under way, by the page that asked.

    Args:
        library: models, retrievers and graphs.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._under_way: dict[str, tuple[Run, ...]] = {}

    def is_asking(self, page: str, *requests: Request) -> bool:
        """Whether just this is under way, so that Enter pressed twice need not ask it again."""
        return tuple(run.request for run in self._under_way.get(page, ())) == requests

    async def ask(self, page: str, *requests: Request) -> AsyncIterator[tuple[Run, ...]]:
        """Ask, and tell how far it is whenever it has come further, until another question is asked."""
        self.stop(page)
        self._under_way.pop(page, None)
        mine: tuple[Run, ...] | None = None
        try:
            async with aclosing(answering(self._library, *requests)) as progress:
                async for runs in progress:
                    if mine is None:
                        mine = self._under_way[page] = runs
                    if self._under_way.get(page) is not mine:
                        return
                    yield runs
        finally:
            if self._under_way.get(page) is mine:
                self._under_way.pop(page, None)

    def stop(self, page: str) -> None:
        """End what a page is asking: what is under way in the model is finished, nothing more is asked."""
        for run in self._under_way.get(page, ()):
            run.stop()
