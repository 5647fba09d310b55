"""A conversation as a file: Markdown to read, JSON with all of it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from knowwhen.chat.folded import folded
from knowwhen.chat.session import Choice
from knowwhen.chat.trace import trace_text
from knowwhen.chat.turn import Turn
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.tools.printable import printable

KINDS = (".md", ".json")
_MARKS = re.compile(r"([\\`*\[\]#|~]|(?<!\w)_|_(?!\w)|:(?=//))")  # an underscore within a word is one
# What makes a line a list or a quotation, or the line above it a heading.
_BEGINS = re.compile(r"^(\d*)([-+=>.)])")


def save(file: Path, thread: str, choice: Choice, turns: Sequence[Turn], overwrite: bool = False) -> None:
    """Write a conversation to a file.

    Args:
        file: its end says what it becomes, one of `KINDS`.
        thread: the conversation's name.
        choice: whom it was with, last.
        turns: what was said.
        overwrite: whether the file may be there already.

    Raises:
        SettingsError: the end is none of these.
        KnowwhenError: the file is there, or cannot be written.
    """
    if file.suffix.lower() not in KINDS:
        raise SettingsError(f"{file} is to end in {' or '.join(KINDS)}, which says what to write")
    made = _markdown(thread, choice, turns) if file.suffix.lower() == ".md" else _json(thread, choice, turns)
    try:
        if file.is_dir():
            raise KnowwhenError(f"{file} is a folder; name another file")
        if file.exists() and not overwrite:
            raise KnowwhenError(f"{file} is there already; write /save --force {file} to replace it")
        new = file.with_name(f".{file.name}.new")  # a full disk leaves the former file as it was
        try:
            new.write_text(made, encoding="utf-8")
            new.replace(file)
        finally:
            new.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # ValueError: no file can have that name
        reason = error.strerror if isinstance(error, OSError) else error
        raise KnowwhenError(f"{file} cannot be written ({reason}); name another file") from None


def _json(thread: str, choice: Choice, turns: Sequence[Turn]) -> str:
    whole = {
        "thread": thread,
        "model": choice.model,
        "corpus": choice.corpus,
        "method": choice.method,
        "settings": choice.settings,
        "turns": [turn.as_json() for turn in turns],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _markdown(thread: str, choice: Choice, turns: Sequence[Turn]) -> str:
    head = f"# {_plain(thread)}\n\nModel {_plain(choice.model)}, corpus {_plain(choice.corpus)}.\n"
    return "\n".join([head, *(_turn(number, turn) for number, turn in enumerate(turns, 1))])


def _turn(number: int, turn: Turn) -> str:
    # What others wrote stays text: no tag, no picture, no heading of its own, and the trace as an indented
    # block, which no fence can end.
    trace = "\n".join(f"    {line}" for line in trace_text(turn).splitlines())
    asked, said = _plain(turn.question), _lines(turn.answer) or "(no answer)"
    fold = f"<details><summary>{_tagless(folded(turn))}</summary>\n\n{trace}\n\n</details>\n"
    return f"## {number}. {' '.join(asked.split())}\n\n{said}\n\n{fold}"


def _lines(text: str) -> str:
    """Line by line, each as it is written."""
    lines = (_plain(line.strip()) for line in text.splitlines() if line.strip())
    return "\\\n".join(_BEGINS.sub(r"\1\\\2", line) for line in lines)


def _plain(text: str) -> str:
    return _tagless(_MARKS.sub(r"\\\1", text))


def _tagless(text: str) -> str:
    return printable(text).replace("&", "&amp;").replace("<", "&lt;")
