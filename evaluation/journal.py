"""The journal of a long run over questions: each one's record on disk as soon as it is there.

Killed at any moment, even in the middle of a line, it holds every question that was finished, and a later run
goes on from it. It is JSON lines: what the run was begun with, then one record for each question.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from knowwhen.models.errors import KnowwhenError, SettingsError

JOURNAL = "journal.jsonl"
LOCK = "journal.lock"
TAIL = 2**16  # bytes looked through at once for the last whole line


class Finished(BaseModel, frozen=True, extra="forbid"):
    """A question that is done; a run's own record adds what came of it."""

    question_id: str
    question: str
    golden_answers: tuple[str, ...]


R = TypeVar("R", bound=Finished)


def _only_by_its_journal(folder: Path) -> bool:
    return False


@dataclass(frozen=True)
class JournalKind(Generic[R]):
    """What a journal is of."""

    record: type[R]
    format: str
    """Written in its first line, by which it is known: `knowwhen reference journal`."""
    product: str
    """What the folder holds in the end, for the errors: `reference set`."""
    version: int = 1
    holds: Callable[[Path], bool] = _only_by_its_journal
    """Whether a folder without a journal holds such a product all the same, and may be written to."""

    @property
    def beginning(self) -> bytes:
        """How every journal of this kind begins, by which ours is known."""
        return json.dumps({"format": self.format})[:-1].encode()


class Journal(Generic[R]):
    """The questions finished so far."""

    def __init__(self, path: Path, finished: dict[str, R]) -> None:
        self.path = path
        self.finished = finished
        """By their ids."""

    def add(self, record: R) -> None:
        """Write a finished question down, for good.

        Raises:
            KnowwhenError: if that fails.
        """
        _append(self.path, record.model_dump())
        self.finished[record.question_id] = record


@contextmanager
def open_journal(folder: Path, kind: JournalKind[R], origin: BaseModel) -> Iterator[Journal[R]]:
    """Begin the journal in a folder or go on with the one there, which no other process may do meanwhile.

    Args:
        folder: A new or empty folder, or one that such a journal is in.
        kind: What the journal is of.
        origin: How the records are made; a journal that was begun otherwise is refused.

    Raises:
        SettingsError: The journal was begun with another origin.
        KnowwhenError: The folder holds something else, is in use, or cannot be written; or the journal is
            damaged.
    """
    with begun(folder, kind, origin) as path:
        finished: dict[str, R] = {}
        for _, record in records(path, kind):
            finished.setdefault(record.question_id, record)
        yield Journal(path, finished)


@contextmanager
def begun(folder: Path, kind: JournalKind[R], origin: BaseModel) -> Iterator[Path]:
    """The same, but give the journal's file, whole lines from beginning to end, and read no record."""
    try:
        _check_ours(folder, kind)
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK, timeout=0):
            path = folder / JOURNAL
            with path.open("a+b") as file:
                _cut_half_a_line(file)
                file.seek(0)
                header = file.readline()
            if header:
                _check_origin(path, header, kind, origin)
            else:
                _append(path, {"format": kind.format, "version": kind.version, "origin": origin.model_dump()})
            yield path
    except Timeout:
        raise KnowwhenError(f"{folder} is in use by another process; wait for it to end") from None
    except OSError as error:
        raise unwritable(folder, error) from None


def origin_of(folder: Path, kind: JournalKind[R]) -> Any:
    """What the journal in a folder was begun with, as JSON.

    Raises:
        KnowwhenError: there is none of this kind, or its first line is damaged.
    """
    path = folder / JOURNAL
    try:
        with path.open("rb") as file:
            header = file.readline()
    except OSError:
        header = b""
    if not header.startswith(kind.beginning):
        raise KnowwhenError(f"{folder} holds no {kind.product}; give the folder of one")
    return _origin(path, header, kind)


def records(path: Path, kind: JournalKind[R]) -> Iterator[tuple[int, R]]:
    """Every record of a journal, in the order written, with the place of its line (bytes).

    Half a line at the end, which a process is writing or was killed in, is left out.

    Raises:
        KnowwhenError: a line is damaged.
    """
    with path.open("rb") as file:
        place = len(file.readline())
        for number, line in enumerate(file, start=2):
            if not line.endswith(b"\n"):
                break
            yield place, read_record(line, kind, f"{path}:{number}")
            place += len(line)


def read_record(line: bytes, kind: JournalKind[R], where: str) -> R:
    """The record that a line of a journal holds.

    Raises:
        KnowwhenError: it holds none; says where.
    """
    try:
        return kind.record.model_validate_json(line)
    except ValidationError:
        raise KnowwhenError(f"{where} is damaged; delete the line, and its question is asked again") from None


def unwritable(path: Path, error: OSError) -> KnowwhenError:
    """What to say when a folder with a journal, or a file in it, cannot be written."""
    return KnowwhenError(
        f"{path} could not be written: {error.strerror or error}; make room and run again, every finished "
        "question is kept"
    )


def _check_ours(folder: Path, kind: JournalKind[R]) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise KnowwhenError(f"{folder} is a file; choose another place for the {kind.product}")
    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK)
    if JOURNAL in names:
        with (folder / JOURNAL).open("rb") as file:
            begins = file.read(len(kind.beginning))
        if kind.beginning.startswith(begins):  # shorter, if it was killed there
            return
    elif names and kind.holds(folder):
        return
    if names:
        raise KnowwhenError(
            f"{folder} holds {names[0]}, which is no {kind.product}'s; choose an empty folder"
        )


def _cut_half_a_line(file: BinaryIO) -> None:
    """Cut off what a process that was killed has left behind the last whole line."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - TAIL)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    file.truncate(end)


def _check_origin(path: Path, header: bytes, kind: JournalKind[R], origin: BaseModel) -> None:
    begun = _origin(path, header, kind)
    for name, value in origin.model_dump(mode="json").items():
        if begun.get(name) != value:
            what, then, now = _apart(name, begun.get(name), value)
            raise SettingsError(
                f"{path} was begun with {what} {then!r}, which is now {now!r}; go on with what it was begun "
                "with, or begin anew in another folder"
            )


def _apart(name: str, then: Any, now: Any) -> tuple[str, Any, Any]:
    """What differs: of two texts that are JSON objects the first field that does."""
    try:
        fields, others = json.loads(then), json.loads(now)
        field = next(key for key in sorted({*fields, *others}) if fields.get(key) != others.get(key))
    except (ValueError, TypeError, AttributeError, StopIteration):
        return name, then, now
    return f"{name} {field}", fields.get(field), others.get(field)


def _origin(path: Path, header: bytes, kind: JournalKind[R]) -> Any:
    try:
        told = json.loads(header)
        version, origin = told["version"], told["origin"]
    except (ValueError, KeyError, TypeError):
        raise KnowwhenError(f"{path}:1 is damaged; begin anew in another folder") from None
    if version != kind.version:
        raise KnowwhenError(
            f"{path} is a journal of format {version}, this knowwhen writes format {kind.version}; begin "
            "anew in another folder or install the knowwhen that began it"
        )
    return origin


def _append(path: Path, record: dict[str, object]) -> None:
    try:
        with path.open("ab") as file:
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise unwritable(path, error) from None
