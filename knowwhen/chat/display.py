"""What a turn looks like: on a terminal as it happens, in a pipe when it is done, as JSON."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from knowwhen.chat.folded import folded
from knowwhen.chat.trace import heading
from knowwhen.chat.turn import Turn
from knowwhen.events import Event
from knowwhen.tools.printable import printable
from knowwhen.tree import QuestionTree

REDRAWN = 8  # times a second


class Display(Protocol):
    """Shows turns."""

    async def follow(self, events: AsyncIterator[Event]) -> None:
        """Show what happens, to its end."""

    def end(self, turn: Turn, thread: str) -> None:
        """Show a turn that has been answered."""

    def broken_off(self, turn: Turn, thread: str, reason: str) -> None:
        """Show a turn that failed or was stopped."""


class OnTerminal:
    """The trees grow and go, the text is written, a line about how it was answered stays."""

    def __init__(self) -> None:
        self._notes = Console(stderr=True, highlight=False)
        self._written = ""

    async def follow(self, events: AsyncIterator[Event]) -> None:
        """Show what happens, to its end."""
        self._written, message = "", ""
        growing = _Growing()
        with ExitStack() as shown:
            showing = self._show(growing, shown)
            async for event in events:
                if event["event"] == "text":
                    shown.close()  # the trees go, and come back if a tool is called after this text
                    showing = False
                    if event["message"] != message:
                        self._new_line()
                    message = event["message"]
                    self._write(event["text"])
                    continue
                growing.take(event)
                if not showing:
                    self._new_line()
                    showing = self._show(growing, shown)

    def end(self, turn: Turn, thread: str) -> None:
        """Write what was not written as it came, and the line."""
        if turn.answer and not self._written.rstrip().endswith(turn.answer):
            self._new_line()
            self._write(turn.answer)
        self._new_line()
        how = f"{printable(folded(turn))}{'   (/trace)' if turn.calls else ''}"
        self._notes.print(Text(how, style="dim"))

    def broken_off(self, turn: Turn, thread: str, reason: str) -> None:
        """Write the reason under what there was."""
        self._new_line()
        self._notes.print(Text(printable(reason), style="red"))

    def _show(self, growing: "_Growing", until: ExitStack) -> bool:
        if self._notes.is_terminal:  # a new one each time: one that was stopped does not know where it is
            live = Live(growing, console=self._notes, refresh_per_second=REDRAWN, transient=True)
            until.enter_context(live)
        return True

    def _write(self, text: str) -> None:
        self._written += text
        print(printable(text), end="", flush=True)

    def _new_line(self) -> None:
        if self._written and not self._written.endswith("\n"):
            self._write("\n")


class InPipe:
    """The answer alone goes to stdout."""

    async def follow(self, events: AsyncIterator[Event]) -> None:
        """Wait for the end."""
        async for _ in events:
            pass

    def end(self, turn: Turn, thread: str) -> None:
        """Write the answer, and the line to stderr."""
        print(printable(turn.answer), flush=True)
        print(printable(folded(turn)), file=sys.stderr, flush=True)

    def broken_off(self, turn: Turn, thread: str, reason: str) -> None:
        """Write the reason to stderr."""
        print(f"knowwhen: {printable(reason)}", file=sys.stderr, flush=True)


class AsJson(InPipe):
    """One object a turn, on one line."""

    def end(self, turn: Turn, thread: str) -> None:
        """Write the turn."""
        self._print({"thread": thread, **turn.as_json()})

    def broken_off(self, turn: Turn, thread: str, reason: str) -> None:
        """Write what there is of the turn, and the reason as its `error`."""
        self._print({"thread": thread, **turn.as_json(), "error": reason})

    def _print(self, told: dict[str, Any]) -> None:
        as_it_is = (sys.stdout.encoding or "").lower().startswith("utf")
        print(json.dumps(told, ensure_ascii=not as_it_is), flush=True)


class _Growing:
    """The trees of the tools that have been called in this turn."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}

    def take(self, event: Event) -> None:
        """Take in any event but text."""
        if event["event"] == "call":
            self._calls[event["call"]] = _Call(event["tool"], event["asked"])
        elif event["call"] in self._calls:
            call = self._calls[event["call"]]
            if event["event"] == "told":
                call.error = event["error"]
            else:
                call.tree.add({name: event[name] for name in event if name not in ("event", "call")})

    def __rich__(self) -> Group:
        return Group(*self._calls.values(), Text("…", style="dim"))


@dataclass
class _Call:
    tool: str
    asked: str
    tree: QuestionTree = field(default_factory=QuestionTree)
    error: str = ""

    def __rich__(self) -> Group:
        shown: list[RenderableType] = [heading(self.tool, "" if self.tree.rows else self.asked), self.tree]
        if self.error:
            shown.append(Text(f"failed: {printable(self.error)}", style="red"))
        return Group(*shown)
