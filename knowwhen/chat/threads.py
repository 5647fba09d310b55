"""Conversations by their names, in one SQLite file."""

import secrets
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import typer
from langchain_core.messages import AnyMessage
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from knowwhen.chat.turn import Turn, turns_of
from knowwhen.models.errors import KnowwhenError

# A conversation is its newest checkpoint. Each holds all messages, so to keep them all would take space that
# grows with the square of the conversation's length.
_NEWEST = "(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = '')"
_OLD = f"thread_id = :thread AND (checkpoint_ns != '' OR checkpoint_id < {_NEWEST})"


@dataclass(frozen=True)
class Thread:
    """A conversation that is kept."""

    name: str
    last: str
    """When it was last gone on with: ISO 8601, UTC."""
    turns: list[Turn]


def usual_file() -> Path:
    """Where conversations are kept if nothing else is said."""
    return Path(typer.get_app_dir("knowwhen")) / "chats.sqlite"


class Threads:
    """The conversations in a file; made by `open_threads`."""

    def __init__(self, saver: AsyncSqliteSaver) -> None:
        self.saver = saver

    async def turns(self, thread: str) -> list[Turn]:
        """The turns of a conversation; none if there is none of that name."""
        found = await self.saver.aget_tuple({"configurable": {"thread_id": thread}})
        return turns_of(_messages(found)) if found else []

    async def all(self) -> list[Thread]:
        """All conversations, the newest first."""
        newest: dict[str, CheckpointTuple] = {}
        async for found in self.saver.alist(None):  # newest first
            of = found.config["configurable"]
            if not of["checkpoint_ns"]:
                newest.setdefault(of["thread_id"], found)
        made = [Thread(name, at.checkpoint["ts"], turns_of(_messages(at))) for name, at in newest.items()]
        return sorted(made, key=lambda thread: thread.last, reverse=True)

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
            sqlite3.connect(file).close()  # aiosqlite's thread shows a traceback of its own if this fails
            saver = await opened.enter_async_context(AsyncSqliteSaver.from_conn_string(str(file)))
            await saver.setup()
        except (OSError, sqlite3.Error) as error:
            raise KnowwhenError(
                f"conversations cannot be kept in {file} ({error}); name another file with --history"
            ) from error
        yield Threads(saver)


def _messages(found: CheckpointTuple) -> list[AnyMessage]:
    messages: list[AnyMessage] = found.checkpoint["channel_values"].get("messages", [])
    return messages
