"""The chat: lines in, commands done, messages answered, until there is nothing more."""

import sqlite3
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from knowwhen.chat.commands import Commands, Quit
from knowwhen.chat.display import Display
from knowwhen.chat.lines import Lines
from knowwhen.chat.session import Session
from knowwhen.chat.stopping import Stopped
from knowwhen.chat.turn import Turn
from knowwhen.models.errors import KnowwhenError

STOPPED = "stopped"
Doing = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]


@dataclass
class Talked:
    """How it went.

    Attributes:
        turns: how many were begun.
        failed: how many of them, and of the commands, failed.
        stopped: how many the user stopped; calls of theirs may still be under way.
    """

    turns: int = 0
    failed: int = 0
    stopped: int = 0


async def talk(session: Session, lines: Lines, commands: Commands, display: Display, doing: Doing) -> Talked:
    """Talk until the user leaves.

    Args:
        session: with whom.
        lines: what the user says.
        commands: what else the user may want.
        display: shows the answers.
        doing: how something is done that may take long; raises `Stopped` if the user stops it.
    """
    talked = Talked()
    while (line := await lines.next()) is not None:
        message = line.strip()
        if message.startswith("/") and not message.startswith("//"):
            try:
                await doing(commands.run(message))
            except Quit:
                break
            except Stopped:
                talked.stopped += 1
                commands.tell(STOPPED)
            except (KnowwhenError, sqlite3.Error) as error:
                talked.failed += 1
                commands.tell(f"knowwhen: {error}", style="red")
        elif message:
            await _answer(session, message.removeprefix("/"), display, doing, talked)
    return talked


async def _answer(session: Session, message: str, display: Display, doing: Doing, talked: Talked) -> None:
    talked.turns += 1
    before, reason = len(await session.turns()), ""
    try:
        await doing(display.follow(session.ask(message)))
    except Stopped:
        talked.stopped += 1
        reason = STOPPED
    except (KnowwhenError, sqlite3.Error) as error:
        talked.failed += 1
        reason = str(error)
    turns = await session.turns()
    turn = turns[-1] if len(turns) > before else Turn(message)  # it was stopped before it was kept
    if reason:
        display.broken_off(turn, session.thread, reason)
    else:
        display.end(turn, session.thread)
    await session.threads.tidy(session.thread)
