"""A journal whose records stay on disk: of each question its place in the file is known, and no more."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Generic

from pydantic import BaseModel

from knowwhen.evaluation.journal import (
    JOURNAL,
    JournalKind,
    R,
    begun,
    read_record,
    records,
    unwritable,
)
from knowwhen.evaluation.places import Places

SYNCED = 1.0  # seconds after which what is written goes to the disk itself, against a loss of power


class LongJournal(Generic[R]):
    """The questions finished so far; of one that was done again the last record counts.

    A record is handed to the operating system at once, so that it outlives a kill -9.
    """

    def __init__(self, path: Path, kind: JournalKind[R], file: BinaryIO) -> None:
        self.path = path
        self._kind = kind
        self._file = file
        self._places = Places()  # in bytes
        for place, record in records(path, kind):
            self._places[record.question_id] = place
        self._synced = time.monotonic()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, question_id: str) -> bool:
        return self._places.get(question_id) is not None

    def __getitem__(self, question_id: str) -> R:
        place = self._places.get(question_id)
        if place is None:
            raise KeyError(question_id)
        self._file.seek(place)
        return read_record(self._file.readline(), self._kind, f"{self.path}, question {question_id}")

    def __iter__(self) -> Iterator[R]:
        """Each question's record, in the order written."""
        for place, record in records(self.path, self._kind):
            if self._places.get(record.question_id) == place:
                yield record

    def add(self, record: R) -> None:
        """Write a question down, for good.

        Raises:
            KnowwhenError: if that fails.
        """
        line = json.dumps(record.model_dump(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(line)
            self._file.flush()
            if time.monotonic() - self._synced > SYNCED:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise unwritable(self.path, error) from None
        self._places[record.question_id] = place


@contextmanager
def open_long_journal(folder: Path, kind: JournalKind[R], origin: BaseModel) -> Iterator[LongJournal[R]]:
    """Begin the journal in a folder or go on with the one there, as `journal.open_journal` does.

    Raises:
        SettingsError: The journal was begun with another origin.
        KnowwhenError: The folder holds something else, is in use, or cannot be written; or the journal is
            damaged.
    """
    with begun(folder, kind, origin) as path, path.open("r+b") as file:
        yield LongJournal(path, kind, file)
        file.flush()
        os.fsync(file.fileno())


def read_journal(folder: Path, kind: JournalKind[R]) -> Iterator[R]:
    """Each question's record in a folder's journal, in the order written, also while it is being written.

    Raises:
        KnowwhenError: a line is damaged.
    """
    with (folder / JOURNAL).open("rb") as file:
        yield from LongJournal(folder / JOURNAL, kind, file)
