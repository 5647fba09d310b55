"""Building an index from entries, and adding entries to one."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.analyzer import Analyzer
from knowwhen.tools.encoder import DEFAULT_ENCODER, Encoder, known_encoder
from knowwhen.tools.entry import BadEntries, Entry
from knowwhen.tools.generation import next_generation
from knowwhen.tools.manifest import Kind, Manifest, read_manifest, record_files, sound_manifest
from knowwhen.tools.writer import IndexWriter

ANALYZER = Analyzer()


def build_index(
    entries: Iterable[Entry],
    folder: Path,
    *,
    kind: Kind = "bm25",
    encoder: str | None = None,
    analyzer: Analyzer = ANALYZER,
    bad: BadEntries | None = None,
) -> Manifest:
    """Build an index in a folder; an index that is there is replaced once the new one is complete.

    Args:
        entries: The corpus, read once, in its order.
        folder: Where the index is to be.
        kind: `bm25`, `dense`, or `hybrid`, which is both.
        encoder: Folder or hub id of a sentence-transformers model, for `dense` and `hybrid`; None takes
            all-MiniLM-L6-v2.
        analyzer: How words are made of text.
        bad: What becomes of an entry whose id was there before; None ends the build with an error.

    Raises:
        RetrievalError: If there is no entry, one is bad, or the folder is not an index's or not writable.
    """
    model = None if kind == "bm25" else Encoder(encoder or DEFAULT_ENCODER)
    with next_generation(folder) as generation:
        sources = IndexWriter(folder / generation, kind, analyzer, model).write(entries, bad or BadEntries())
        if not sources:
            raise RetrievalError("there is no passage to index; give files that hold some")
        manifest = Manifest(
            kind=kind,
            passages=sources.total(),
            generation=generation,
            analyzer=analyzer,
            encoder=model.record() if model else None,
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
    read_manifest(folder)  # refuses what is no index before a lock is put there
    with next_generation(folder) as generation:
        old = sound_manifest(folder)
        model = known_encoder(old.encoder) if old.encoder else None
        writer = IndexWriter(
            folder / generation, old.kind, old.analyzer, model, start=folder / old.generation
        )
        sources = writer.write(entries, bad or BadEntries())
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
