"""Writes the files of one generation of an index: passages and, for a dense index, vectors."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.analyzer import Analyzer
from knowwhen.tools.encoder import Encoder
from knowwhen.tools.entry import BadEntries, Entry
from knowwhen.tools.generation import link_files
from knowwhen.tools.manifest import PASSAGES, VECTORS, Kind
from knowwhen.tools.store import PassageStore, PassageWriter

if TYPE_CHECKING:
    from knowwhen.tools.vectors import VectorWriter

ENCODED_AT_ONCE = 512
"""Passages that wait to be encoded; among many, those of like length share a batch."""


class IndexWriter:
    """Fills the folder of a generation.

    Args:
        folder: The new generation.
        kind: What will search it.
        analyzer: What words are made with.
        encoder: What vectors are made with; None for BM25.
        start: The generation to go on from; None begins with nothing.
    """

    def __init__(
        self, folder: Path, kind: Kind, analyzer: Analyzer, encoder: Encoder | None, start: Path | None = None
    ) -> None:
        self._old: PassageStore | None = None
        self._encoder = encoder
        self._vectors_path = folder / VECTORS
        if start:
            link_files(start / PASSAGES, folder / PASSAGES)
            self._old = PassageStore(folder / PASSAGES, analyzer)
        self._vectors = _vector_writer(encoder.dimension, start) if encoder else None
        first = len(self._old) if self._old else 0
        self._passages = PassageWriter(folder / PASSAGES, analyzer, first, words=kind != "dense")

    def write(self, entries: Iterable[Entry], bad: BadEntries) -> Counter[str]:
        """Write every entry whose id is new, and finish; the result counts them by file.

        Raises:
            RetrievalError: If an id is taken and bad entries are not skipped, or writing fails.
        """
        try:
            sources = self._add(entries, bad)
            self._passages.finish()
        finally:
            self._passages.close()
        if self._vectors:
            self._vectors.write(self._vectors_path)
        return sources

    def _add(self, entries: Iterable[Entry], bad: BadEntries) -> Counter[str]:
        sources: Counter[str] = Counter()
        waiting: list[Entry] = []
        for entry in _with_new_ids(entries, self._old, bad):
            self._passages.add(entry)
            sources[entry.file] += 1
            waiting.append(entry)
            if len(waiting) == ENCODED_AT_ONCE:
                self._encode(waiting)
                waiting = []
        self._encode(waiting)
        return sources

    def _encode(self, entries: list[Entry]) -> None:
        if self._encoder and self._vectors and entries:
            self._vectors.add(self._encoder.passages([(entry.title, entry.text) for entry in entries]))


def _vector_writer(dimension: int, start: Path | None) -> "VectorWriter":
    # faiss takes as long to import as a small BM25 index to build, which does not need it.
    from knowwhen.tools.vectors import VectorWriter

    return VectorWriter(dimension, start / VECTORS if start else None)


def _with_new_ids(entries: Iterable[Entry], old: PassageStore | None, bad: BadEntries) -> Iterator[Entry]:
    # The ids seen so far lie in a temporary database, not in memory, which must not grow with the corpus.
    seen = sqlite3.connect("")
    seen.executescript("pragma journal_mode=off; create table seen (id text primary key) without rowid")
    try:
        for entry in entries:
            new = seen.execute("insert or ignore into seen values (?)", (entry.id,)).rowcount
            if new and not (old and old.has_id(entry.id)):
                yield entry
            elif not entry.repeats:
                bad.report(entry.where, f"the id {entry.id!r} is already taken")
    except sqlite3.OperationalError as error:
        raise RetrievalError(
            f"the ids could not be kept in the folder for temporary files: {error}"
        ) from None
    finally:
        seen.close()
