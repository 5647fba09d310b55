"""Conversations by their names, in one SQLite file."""

import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from pathlib import Path

import typer
from filelock import AsyncFileLock, Timeout
from langchain_core.messages import AnyMessage
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from knowwhen.chat.turn import Turn, turns_of
from knowwhen.models.errors import KnowwhenError

# A conversation is its newest checkpoint. Each holds all messages, so to keep them all would take space that
# grows with the square of the conversation's length.
_NEWEST = "(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = '')"
_OLD = f"thread_id = :thread AND (checkpoint_ns != '' OR checkpoint_id < {_NEWEST})"


LOCKS = 256
IN_MEMORY = ":memory:"  # as SQLite names a file that is none


@dataclass(frozen=True)
class Thread:
    """A conversation that is kept."""

    name: str
    last: str = ""
    """When it was last gone on with: ISO 8601, UTC."""
    turns: list[Turn] = field(default_factory=list)
    readable: bool = True


def usual_file() -> Path:
    """Where conversations are kept if nothing else is said."""
    return Path(typer.get_app_dir("knowwhen")) / "chats.sqlite"


class Threads:
    """The conversations in a file; made by `open_threads`."""

    def __init__(self, saver: AsyncSqliteSaver, file: Path) -> None:
        self.saver = saver
        self.file = file

    @property
    def kept(self) -> bool:
        """Whether conversations outlast the process."""
        return str(self.file) != IN_MEMORY

    async def turns(self, thread: str) -> list[Turn]:
        """The turns of a conversation; none if there is none of that name.

        Raises:
            KnowwhenError: it is damaged.
            sqlite3.Error: the file is.
        """
        return (await self._read(thread)).turns

    async def all(self) -> list[Thread]:
        """All conversations, the newest first, damaged ones last."""
        async with self.saver.conn.execute("SELECT DISTINCT thread_id FROM checkpoints") as rows:
            names = [name async for (name,) in rows]
        return sorted([await self._listed(name) for name in names], key=lambda each: each.last, reverse=True)

    @asynccontextmanager
    async def alone(self, thread: str, waiting: Callable[[], None]) -> AsyncIterator[None]:
        """Let nobody else answer in a conversation meanwhile: of two answers at once one would be lost.

        Args:
            thread: the conversation's name.
            waiting: told if another process is at it, whose end is waited for.
        """
        if not self.kept:
            yield
            return
        # A lock's file must stay, so a few serve all conversations; two that share one seldom meet.
        number = int.from_bytes(sha256(thread.encode()).digest()) % LOCKS
        folder = self.file.with_name(f"{self.file.name}.locks")
        folder.mkdir(exist_ok=True, mode=0o700)
        lock = AsyncFileLock(folder / str(number))
        try:
            await lock.acquire(blocking=False)
        except Timeout:
            waiting()
            await lock.acquire(poll_interval=0.2)
        try:
            yield
        finally:
            await lock.release()

    async def _listed(self, name: str) -> Thread:
        try:
            return await self._read(name)
        except KnowwhenError:
            return Thread(name, readable=False)

    async def _read(self, name: str) -> Thread:
        try:
            found = await self.saver.aget_tuple({"configurable": {"thread_id": name}})
            return Thread(name, found.checkpoint["ts"], turns_of(_messages(found))) if found else Thread(name)
        except sqlite3.Error:
            raise
        except Exception as error:  # of whatever reads the bytes of a message
            raise KnowwhenError(
                f"the conversation {name} is damaged and cannot be read ({type(error).__name__}); name "
                "another"
            ) from error

    async def new_name(self) -> str:
        """A name that no conversation has."""
        while True:
            name = f"{date.today():%Y-%m-%d}-{secrets.token_hex(2)}"
            if await self.saver.aget_tuple({"configurable": {"thread_id": name}}) is None:
                return name

    async def tidy(self, thread: str) -> None:
        """Forget how a conversation came to be as it is."""
        async with self.saver.lock:
            for table in ("writes", "checkpoints"):
                await self.saver.conn.execute(f"DELETE FROM {table} WHERE {_OLD}", {"thread": thread})
            await self.saver.conn.commit()


@asynccontextmanager
async def open_threads(file: Path) -> AsyncIterator[Threads]:
    """The conversations in a file, which is made if it is not there.

    Raises:
        KnowwhenError: it cannot be opened, or is something else.
    """
    async with AsyncExitStack() as opened:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _try(file)
            saver = await opened.enter_async_context(AsyncSqliteSaver.from_conn_string(str(file)))
            await saver.setup()
        except (OSError, sqlite3.Error) as error:
            raise KnowwhenError(
                f"conversations cannot be kept in {file} ({error}); name another file with --history"
            ) from error
        yield Threads(saver, file)


def _try(file: Path) -> None:
    """Open a file for writing; aiosqlite's thread shows a traceback of its own if this fails."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("BEGIN IMMEDIATE")


def _messages(found: CheckpointTuple) -> list[AnyMessage]:
    messages: list[AnyMessage] = found.checkpoint["channel_values"].get("messages", [])
    return messages
