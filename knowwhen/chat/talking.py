"""The chat: lines in, commands done, messages answered, until there is nothing more."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from knowwhen.chat.answering import Answering, reason_of
from knowwhen.chat.commands import Commands, Quit
from knowwhen.chat.display import Display
from knowwhen.chat.lines import Lines
from knowwhen.chat.session import Session
from knowwhen.chat.stopping import Stopped

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

    def count(self, reason: str) -> None:
        """Count what was not done."""
        self.stopped += reason == STOPPED
        self.failed += reason != STOPPED


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
                reason = await _done(commands.run(message), doing)
            except Quit:
                break
            if reason:
                talked.count(reason)
                if reason == STOPPED:
                    commands.tell(reason)
                else:
                    commands.tell(f"knowwhen: {reason}", style="red")
        elif message:
            talked.turns += 1
            answering = Answering(session, message.removeprefix("/"))
            reason = await _done(answering.follow(display, commands), doing)
            if reason:
                talked.count(reason)
                display.broken_off(answering.turn, session.thread, reason)
            else:
                display.end(answering.turn, session.thread)
    return talked


async def _done(work: Coroutine[Any, Any, None], doing: Doing) -> str:
    """Why something was not done; empty if it was.

    Raises:
        Quit: the user wants to go.
    """
    try:
        await doing(work)
    except Quit:
        raise
    except Stopped:
        return STOPPED
    except Exception as error:  # noqa: BLE001  # whatever it is, the chat goes on
        return reason_of(error)
    return ""
