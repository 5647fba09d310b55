"""What the user types, line by line: at a terminal with history and completion, else from stdin."""

import sys
from collections.abc import Callable, Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
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
        history: a file that keeps them, made if it is not there; None: for this chat alone.
        completions: of commands.
        tell: shows a note, if they cannot be kept.
    """

    def __init__(self, history: Path | None, completions: Completions, tell: Callable[[str], None]) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=_Kept(history, tell) if history else InMemoryHistory(),
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
    """The lines of stdin; bytes that are no UTF-8 are replaced."""

    def __init__(self) -> None:
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")

    async def next(self) -> str | None:
        """The next line; None at its end. Nothing else goes on meanwhile."""
        return (sys.stdin.readline() or None) if sys.stdin else None


class _Kept(FileHistory):
    """Lines in a file, or for this chat alone where there can be none."""

    def __init__(self, file: Path, tell: Callable[[str], None]) -> None:
        super().__init__(str(file))
        self._tell = tell

    def load_history_strings(self) -> Iterable[str]:
        try:
            yield from super().load_history_strings()
        except OSError as error:
            self._failed(error)

    def store_string(self, string: str) -> None:
        try:
            super().store_string(string)
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        self._tell(f"typed lines are not kept in {self.filename!s} ({error.strerror})")
        self._tell = lambda text: None  # once is enough


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
