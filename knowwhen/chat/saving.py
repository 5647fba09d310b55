"""A conversation as a file: Markdown to read, JSON with all of it."""

import json
from collections.abc import Sequence
from pathlib import Path

from knowwhen.chat.folded import folded
from knowwhen.chat.session import Choice
from knowwhen.chat.trace import trace_text
from knowwhen.chat.turn import Turn
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.tree import printable

KINDS = (".md", ".json")


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
        with file.open("w" if overwrite else "x", encoding="utf-8") as out:
            out.write(made)
    except FileExistsError:
        raise KnowwhenError(f"{file} is there already; write /save --force {file} to replace it") from None
    except OSError as error:
        raise KnowwhenError(f"{file} cannot be written ({error.strerror}); name another file") from None


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
    # What others wrote stays text: no tag, and the trace as an indented block, which no fence can end.
    trace = "\n".join(f"    {line}" for line in trace_text(turn).splitlines())
    asked, said = _plain(turn.question), _plain(turn.answer) or "(no answer)"
    fold = f"<details><summary>{_plain(folded(turn))}</summary>\n\n{trace}\n\n</details>\n"
    return f"## {number}. {' '.join(asked.split())}\n\n{said}\n\n{fold}"


def _plain(text: str) -> str:
    return printable(text).replace("&", "&amp;").replace("<", "&lt;")
