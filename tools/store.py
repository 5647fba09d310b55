"""Passages on disk in tantivy: their stored text, their ids and, for BM25, their words."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy
from langchain_core.documents import Document

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.analyzer import Analyzer
from knowwhen.tools.entry import Entry

ANALYZER = "knowwhen"
WRITER_BYTES = 128_000_000
"""tantivy writes a segment when its words fill this much memory."""


def passage_schema() -> tantivy.Schema:
    """The fields of a passage.

    `contents` are its words (without positions, which BM25 does not use), `number` its place in the order
    of addition, which is also that of its vector, and `passage` what is given back: one JSON object.
    """
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("contents", tokenizer_name=ANALYZER, index_option="freq")
    builder.add_text_field("id", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("number", indexed=True, fast=True)
    builder.add_bytes_field("passage", stored=True)
    return builder.build()


class PassageWriter:
    """Adds passages to the tantivy index in a folder, which is made if it is not there.

    One indexing thread, so that the same corpus gives the same index; memory is bounded by `WRITER_BYTES`.

    Args:
        folder: The tantivy folder.
        analyzer: What the words are made with.
        first: The number of the first passage to be added.
        words: Index the words too; without them the folder only stores (for a dense index).
    """

    def __init__(self, folder: Path, analyzer: Analyzer, first: int, words: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(passage_schema(), str(folder), reuse=True)
        index.register_tokenizer(ANALYZER, analyzer.text_analyzer)
        self._writer = index.writer(WRITER_BYTES, 1)
        self._folder = folder
        self._analyzer = analyzer
        self._number = first
        self._words = words

    def add(self, entry: Entry) -> None:
        """Add one passage under the next number."""
        document = tantivy.Document()
        if self._words:
            document.add_text("contents", self._analyzer.contents(entry.title, entry.text))
        document.add_text("id", entry.id)
        document.add_unsigned("number", self._number)
        stored = {"id": entry.id, "title": entry.title, "text": entry.text, "source": entry.source}
        document.add_bytes("passage", json.dumps(stored, ensure_ascii=False).encode())
        with _one_line_errors(self._folder):
            self._writer.add_document(document)
        self._number += 1

    def finish(self) -> None:
        """Write everything to disk and wait for the merges to end."""
        with _one_line_errors(self._folder):
            self._writer.commit()
            self._writer.wait_merging_threads()
        # tantivy makes its two lists of files readable by their owner alone, whatever the folder says.
        for file in self._folder.iterdir():
            file.chmod(self._folder.stat().st_mode & 0o666)

    def close(self) -> None:
        """Let go of the folder; what was not finished is lost."""
        del self._writer  # which ends tantivy's threads and waits for them


class PassageStore:
    """Reads the tantivy folder that a `PassageWriter` wrote; safe to use from many threads."""

    def __init__(self, folder: Path, analyzer: Analyzer) -> None:
        with _lockable(folder) as path:
            index = tantivy.Index.open(str(path))
            index.config_reader(reload_policy="manual")  # a generation never changes
            index.register_tokenizer(ANALYZER, analyzer.text_analyzer)
            self.schema = index.schema
            self.searcher = index.searcher()

    def __len__(self) -> int:
        return int(self.searcher.num_docs)

    def has_id(self, passage_id: str) -> bool:
        """Is a passage of this id stored?"""
        return bool(self.searcher.doc_freq("id", passage_id))

    def best(self, query: tantivy.Query, k: int) -> list[Document]:
        """The k passages that score highest; equal scores in the order of addition."""
        hits = self.searcher.search(query, min(k, len(self)), count=False).hits
        numbers = self.searcher.fast_field_values("number", [address for _, address in hits])
        ranked = sorted(zip(hits, numbers, strict=True), key=lambda hit: (-hit[0][0], hit[1]))
        return [self._document(address, score) for (score, address), _ in ranked]

    def numbered(self, numbers: Sequence[int], scores: Sequence[float]) -> list[Document]:
        """The passages of these numbers with these scores, in the order given."""
        query = tantivy.Query.term_set_query(self.schema, "number", list(numbers))
        addresses = [address for _, address in self.searcher.search(query, len(numbers), count=False).hits]
        found = dict(zip(self.searcher.fast_field_values("number", addresses), addresses, strict=True))
        return [self._document(found[number], score) for number, score in zip(numbers, scores, strict=True)]

    def _document(self, address: tantivy.DocAddress, score: float) -> Document:
        stored: dict[str, Any] = json.loads(bytes(self.searcher.doc(address)["passage"][0]))
        text = stored.pop("text")
        return Document(page_content=text, metadata={**stored, "score": float(score)}, id=stored["id"])


@contextmanager
def _lockable(folder: Path) -> Iterator[Path]:
    """A folder to open the index from: itself or, if it is read-only, links to its files.

    tantivy takes a lock in the folder while it opens the files; a colleague's index could not be opened.
    """
    if os.access(folder, os.W_OK):
        yield folder
        return
    with tempfile.TemporaryDirectory() as links:
        for file in folder.iterdir():
            if file.suffix != ".lock":
                (Path(links) / file.name).symlink_to(file.absolute())
        yield Path(links)


@contextmanager
def _one_line_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:  # tantivy's only kind of error, and it does not say which file or why
        free = shutil.disk_usage(folder).free / 1e6
        raise RetrievalError(
            f"the index could not be written with {free:,.0f} MB of disk left at {folder.parents[1]}; "
            f"make room and try again ({str(error).splitlines()[0]})"
        ) from None
