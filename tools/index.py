"""An index: built from entries, added to, opened as a retriever, checked."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.analyzer import Analyzer
from knowwhen.tools.bm25 import BM25Retriever
from knowwhen.tools.entry import BadEntries, Entry
from knowwhen.tools.generation import link_files, next_generation
from knowwhen.tools.manifest import Kind, Manifest, check_files, damaged, read_manifest, record_files
from knowwhen.tools.retriever import PassageRetriever
from knowwhen.tools.store import PassageStore, PassageWriter

PASSAGES = "passages"
ANALYZER = Analyzer()


def build_index(
    entries: Iterable[Entry],
    folder: Path,
    *,
    kind: Kind = "bm25",
    analyzer: Analyzer = ANALYZER,
    bad: BadEntries | None = None,
) -> Manifest:
    """Build an index in a folder; an index that is there is replaced once the new one is complete.

    Args:
        entries: The corpus, read once, in its order.
        folder: Where the index is to be.
        kind: `bm25`.
        analyzer: How words are made of text.
        bad: What becomes of an entry whose id was there before; None ends the build with an error.

    Raises:
        RetrievalError: If the folder is not an index's, cannot be written, or an entry is bad.
    """
    with next_generation(folder) as generation:
        writer = PassageWriter(folder / generation / PASSAGES, analyzer, first=0, words=kind != "dense")
        sources = _write(entries, writer, bad or BadEntries(), None)
        manifest = Manifest(
            kind=kind,
            passages=sources.total(),
            generation=generation,
            analyzer=analyzer,
            encoder=None,
            sources=dict(sources),
            files=record_files(folder, generation),
        )
        manifest.write(folder)
    return manifest


def add_to_index(entries: Iterable[Entry], folder: Path, *, bad: BadEntries | None = None) -> Manifest:
    """Add entries to an index; until that is complete, and if it fails, the index stays as it was.

    Raises:
        RetrievalError: If there is no sound index, it cannot be written, or an entry is bad: also if its id
            is in the index already.
    """
    old = read_manifest(folder)
    check_files(folder, old)
    with next_generation(folder) as generation:
        passages = folder / generation / PASSAGES
        link_files(folder / old.generation / PASSAGES, passages)
        store = PassageStore(passages, old.analyzer)
        writer = PassageWriter(passages, old.analyzer, first=old.passages, words=old.kind != "dense")
        sources = _write(entries, writer, bad or BadEntries(), store)
        manifest = old.model_copy(
            update={
                "passages": old.passages + sources.total(),
                "generation": generation,
                "sources": dict(Counter(old.sources) + sources),
                "files": record_files(folder, generation),
            }
        )
        manifest.write(folder)
    return manifest


def open_index(folder: Path) -> PassageRetriever:
    """Open an index as a retriever, having checked it.

    Raises:
        RetrievalError: If there is none, or it is incomplete, damaged, foreign or of a newer format.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    return BM25Retriever(store=_open_store(folder, manifest), analyzer=manifest.analyzer)


def check_index(folder: Path) -> Manifest:
    """Read every byte of an index and compare it with the manifest.

    Raises:
        RetrievalError: As `open_index`.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest, thorough=True)
    _open_store(folder, manifest)
    return manifest


def _open_store(folder: Path, manifest: Manifest) -> PassageStore:
    try:
        store = PassageStore(folder / manifest.generation / PASSAGES, manifest.analyzer)
    except ValueError as error:
        raise damaged(folder, f"tantivy cannot read it ({error})") from None
    if len(store) != manifest.passages:
        raise damaged(folder, f"it holds {len(store):,} passages instead of {manifest.passages:,}")
    return store


def _write(
    entries: Iterable[Entry], writer: PassageWriter, bad: BadEntries, store: PassageStore | None
) -> Counter[str]:
    """Write the entries with new ids; the result counts them by file."""
    sources: Counter[str] = Counter()
    try:
        for entry in _with_new_ids(entries, bad, store):
            writer.add(entry)
            sources[entry.file] += 1
        writer.finish()
    except ValueError as error:
        raise RetrievalError(f"the index could not be written: {error}") from None
    return sources


def _with_new_ids(entries: Iterable[Entry], bad: BadEntries, store: PassageStore | None) -> Iterator[Entry]:
    # The ids seen so far lie in a temporary database, not in memory, which must not grow with the corpus.
    seen = sqlite3.connect("")
    seen.executescript("pragma journal_mode=off; create table seen (id text primary key) without rowid")
    try:
        for entry in entries:
            new = seen.execute("insert or ignore into seen values (?)", (entry.id,)).rowcount
            if new and not (store and store.has_id(entry.id)):
                yield entry
            else:
                bad.report(entry.where, f"the id {entry.id!r} is already taken")
    finally:
        seen.close()
