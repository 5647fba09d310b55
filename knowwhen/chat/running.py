"""`knowwhen chat` from its options to its exit status."""

import asyncio
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from io import TextIOWrapper
from pathlib import Path

from rich.console import Console

from knowwhen.chat.commands import Commands
from knowwhen.chat.display import AsJson, Display, InPipe, OnTerminal
from knowwhen.chat.lines import FromPipe, FromTerminal, Lines
from knowwhen.chat.session import Choice, Session
from knowwhen.chat.stopping import between_answers, leave, stoppable, to_its_end
from knowwhen.chat.talking import talk
from knowwhen.chat.threads import open_threads, usual_file
from knowwhen.in_words import many
from knowwhen.interrupt import stopping_at_once


def run(choice: Choice, pairs: Sequence[str], thread: str | None, history: Path | None, as_json: bool) -> int:
    """Chat, and return the exit status: 1 if a line of a script failed.

    Args:
        choice: whom to talk to, first.
        pairs: settings of the methods, `name=value`.
        thread: the conversation to go on with; None: a new one.
        history: the file in which conversations are kept; None: the usual one.
        as_json: one JSON object a turn.
    """
    at_terminal = sys.stdin is not None and sys.stdin.isatty()  # None where a shell closed it
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal of fewer letters shows what it can
    with stopping_at_once():
        return asyncio.run(_run(choice, pairs, thread, history, at_terminal, as_json))


async def _run(
    choice: Choice,
    pairs: Sequence[str],
    thread: str | None,
    history: Path | None,
    at_terminal: bool,
    as_json: bool,
) -> int:
    file = history or usual_file()
    async with open_threads(file) as threads:
        screen = Console(stderr=True, highlight=False)
        session = Session(threads, thread or await threads.new_name(), choice, pairs)
        commands = Commands(session, screen)
        lines: Lines = FromPipe()
        if at_terminal:
            typed = file.with_name(f"{file.name}.lines") if threads.kept else None
            lines = FromTerminal(typed, commands.completions, commands.tell)
        display: Display = AsJson() if as_json else OnTerminal() if at_terminal else InPipe()
        kept = len(await session.turns())
        if at_terminal:
            commands.tell(f"{choice.model} on {choice.corpus}; /help lists what there is besides questions")
        if kept:
            commands.tell(f"going on with {session.thread}, {many(kept, 'turn')} so far")
        elif thread:
            commands.tell(f"{thread} is a new conversation")
        for note in session.now.notes:
            commands.tell(note)
        with between_answers() if at_terminal else nullcontext():
            doing = stoppable if at_terminal else to_its_end
            talked = await talk(session, lines, commands, display, doing)
        if talked.turns and threads.kept:
            elsewhere = "" if history is None else f" --history {shlex.quote(str(history))}"
            commands.tell(f"go on with --thread {shlex.quote(session.thread)}{elsewhere}")
    status = 1 if talked.failed and not at_terminal else 0
    if talked.stopped:
        leave(status)
    return status
