"""What the user types, line by line: at a terminal with history and completion, else from stdin."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.output import create_output

PROMPT = "> "
Completions = Callable[[str], Iterable[str]]
"""From a line that begins with / to the words that its last word may become."""


class Lines(Protocol):
    """Gives lines."""

    async def next(self) -> str | None:
        """The next line; None when there is no more."""


class FromTerminal:
    """Lines with history. Ctrl-C clears the line, Ctrl-D on an empty one ends.

    Args:
        history: a file that keeps them, made if it is not there.
        completions: of commands.
    """

    def __init__(self, history: Path, completions: Completions) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)),
            completer=_Commands(completions),
            complete_while_typing=False,
            output=create_output(always_prefer_tty=True),
        )

    async def next(self) -> str | None:
        """The next line; None at Ctrl-D."""
        while True:
            try:
                return await self._session.prompt_async(PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None


class FromPipe:
    """The lines of stdin."""

    async def next(self) -> str | None:
        """The next line; None at its end. Nothing else goes on meanwhile."""
        return sys.stdin.readline() or None


class _Commands(Completer):
    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        line = document.text_before_cursor
        if not line.startswith("/") or line.startswith("//"):
            return
        word = line.split(" ")[-1]
        for whole in self._completions(line):
            if whole.startswith(word):
                yield Completion(whole, start_position=-len(word))
