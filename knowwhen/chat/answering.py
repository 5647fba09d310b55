"""One message of the user, until it is answered, stopped or failed."""

import sqlite3
import sys
import traceback
from dataclasses import dataclass, field

from knowwhen.chat.commands import Commands
from knowwhen.chat.display import Display
from knowwhen.chat.session import Session
from knowwhen.chat.turn import Turn
from knowwhen.models.errors import KnowwhenError
from knowwhen.models.faults import shortened

ELSEWHERE = "another chat is answering in this conversation; waiting for it"
NOTHING_SAID = "the model said nothing; ask again, or in other words"


@dataclass
class Answering:
    """A message on its way.

    Attributes:
        session: with whom.
        message: what the user said.
        turn: what became of it, as far as it is kept.
    """

    session: Session
    message: str
    turn: Turn = field(init=False)

    def __post_init__(self) -> None:
        self.turn = Turn(self.message)

    async def follow(self, display: Display, commands: Commands) -> None:
        """Ask, and show what happens to its end; then nobody else answers in this conversation.

        Raises:
            KnowwhenError: there is no answer.
            sqlite3.Error: it cannot be kept.
        """
        threads, thread = self.session.threads, self.session.thread
        async with threads.alone(thread, lambda: commands.tell(ELSEWHERE)):
            before = len(await self.session.turns())
            try:
                await display.follow(self.session.ask(self.message))
            finally:  # also of what was stopped something may be kept
                self.turn = next(iter((await self.session.turns())[before:]), self.turn)
            if not self.turn.answer:
                raise KnowwhenError(NOTHING_SAID)
            try:
                await threads.tidy(thread)
            except sqlite3.Error as error:  # the answer is kept, and the next turn tidies, too
                commands.tell(f"the file of conversations was not tidied ({error})")


def reason_of(error: Exception) -> str:
    """Why something could not be done, in one line."""
    if isinstance(error, KnowwhenError):
        return str(error)
    if "--debug" in sys.argv:
        traceback.print_exception(error)
    if isinstance(error, sqlite3.Error):
        return f"the file of conversations failed ({error}); see to it, or name another with --history"
    said = shortened(f"{type(error).__name__}: {' '.join(str(error).split())}")
    return f"it broke off ({said}); --debug at the start of the chat shows the whole traceback"
