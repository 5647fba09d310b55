"""The journal of a reference set: each question's labels on disk as soon as they are there.

Killed at any moment, even in the middle of a line, it holds every question that was finished, and a later run
goes on from it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from knowwhen.models.cost import Cost
from knowwhen.models.errors import KnowwhenError, RetrievalError, SettingsError
from knowwhen.tools.labelled import Labelled, Origin
from knowwhen.tools.reference_manifest import read_reference_manifest

JOURNAL = "journal.jsonl"
LOCK = "journal.lock"
FORMAT = "knowwhen reference journal"
VERSION = 1
BEGINNING = json.dumps({"format": FORMAT})[:-1].encode()
"""How every journal begins, by which ours is known."""


class QuestionLabels(BaseModel, frozen=True, extra="forbid"):
    """All labels of one question, the neutral ones too."""

    question_id: str
    question: str
    golden_answers: tuple[str, ...]
    labels: tuple[Labelled, ...]
    """One for each passage that was retrieved, best first."""
    cost: Cost


class Journal:
    """The questions finished so far."""

    def __init__(self, path: Path, finished: dict[str, QuestionLabels]) -> None:
        self.path = path
        self.finished = finished
        """By their ids."""

    def add(self, question: QuestionLabels) -> None:
        """Write a finished question down, for good.

        Raises:
            KnowwhenError: if that fails.
        """
        _append(self.path, question.model_dump())
        self.finished[question.question_id] = question


@contextmanager
def open_journal(folder: Path, origin: Origin) -> Iterator[Journal]:
    """Begin the journal in a folder or go on with the one there, which no other process may do meanwhile.

    Args:
        folder: A new or empty folder, or that of a reference set.
        origin: How the labels are made; a journal that was begun otherwise is refused.

    Raises:
        SettingsError: The journal was begun with another origin.
        KnowwhenError: The folder holds something else, is in use, or cannot be written; or the journal is
            damaged.
    """
    try:
        _check_ours(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK, timeout=0):
            path = folder / JOURNAL
            finished = _read(path, origin)
            if path.stat().st_size == 0:
                _append(path, {"format": FORMAT, "version": VERSION, "origin": origin.model_dump()})
            yield Journal(path, finished)
    except Timeout:
        raise KnowwhenError(f"{folder} is in use by another process; wait for it to end") from None
    except OSError as error:
        raise _unwritable(folder, error) from None


def _check_ours(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise KnowwhenError(f"{folder} is a file; choose another place for the reference set")
    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK)
    if JOURNAL in names:
        with (folder / JOURNAL).open("rb") as file:
            begins = file.read(len(BEGINNING))
        if BEGINNING.startswith(begins):  # shorter, if it was killed there
            return
    elif names and _holds_a_set(folder):
        return
    if names:
        raise KnowwhenError(f"{folder} holds {names[0]}, which is no reference set's; choose an empty folder")


def _holds_a_set(folder: Path) -> bool:
    try:
        read_reference_manifest(folder)
    except RetrievalError:
        return False
    return True


def _read(path: Path, origin: Origin) -> dict[str, QuestionLabels]:
    """The finished questions; half a line at the end, of a process that was killed, is cut off."""
    finished: dict[str, QuestionLabels] = {}
    with path.open("a+b") as file:
        file.seek(0)
        whole = 0  # bytes
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            if number == 1:
                _check_origin(path, line, origin)
                continue
            try:
                question = QuestionLabels.model_validate_json(line)
            except ValidationError:
                raise KnowwhenError(
                    f"{path}:{number} is damaged; delete the line, and its question is asked again"
                ) from None
            finished.setdefault(question.question_id, question)
        file.truncate(whole)
    return finished


def _check_origin(path: Path, line: bytes, origin: Origin) -> None:
    try:
        header = json.loads(line)
        version, begun = header["version"], header["origin"]
    except (ValueError, KeyError, TypeError):
        raise KnowwhenError(f"{path}:1 is damaged; begin anew in another folder") from None
    if version != VERSION:
        raise KnowwhenError(
            f"{path} is a journal of format {version}, this knowwhen writes format {VERSION}; begin anew in "
            "another folder or install the knowwhen that began it"
        )
    for name, value in origin.model_dump().items():
        if begun.get(name) != value:
            raise SettingsError(
                f"{path} was begun with {name} {begun.get(name)!r}, which is now {value!r}; go on with what "
                "it was begun with, or begin anew in another folder"
            )


def _append(path: Path, record: dict[str, object]) -> None:
    try:
        with path.open("ab") as file:
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> KnowwhenError:
    return KnowwhenError(
        f"{path} could not be written: {error.strerror or error}; make room and run again, every finished "
        "question is kept"
    )
