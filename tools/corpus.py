"""Reading a corpus: files and folders become entries, one after the other, never all at once."""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.entry import BadEntries, Entry
from knowwhen.tools.prose import read_prose
from knowwhen.tools.tables import read_delimited, read_jsonl, read_parquet

Reader = Callable[[BinaryIO, str, BadEntries], Iterator[Entry]]

READERS: dict[str, Reader] = {
    ".jsonl": read_jsonl,
    ".tsv": read_delimited("\t"),
    ".csv": read_delimited(","),
    ".parquet": read_parquet,
    ".txt": read_prose,
    ".md": read_prose,
}
ACCEPTED = "JSONL, TSV, CSV (each also .gz), Parquet, .txt or .md files, or folders of them"


class Corpus:
    """The entries of files and folders, in their order; a folder's files in the order of their names.

    Args:
        paths: Files and folders.
        bad: What becomes of an entry that cannot be read; None ends the reading with an error.
        readers: What reads a file, by the end of its name. In folders only files with an end in `READERS` are
            taken: another kind is meant when it is named.

    Raises:
        RetrievalError: If a file is missing or of no known kind, or a folder holds none that is.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        bad: BadEntries | None = None,
        readers: Mapping[str, Reader] = READERS,
    ) -> None:
        self.bad = bad or BadEntries()
        self._readers = readers
        self.files = [file for path in paths for file in _files(path, readers)]
        self.total_bytes = sum(file.stat().st_size for file in self.files)
        """Bytes of all files as they are on disk."""
        self._before = 0
        self._raw: BinaryIO | None = None

    @property
    def bytes_read(self) -> int:
        """How far the reading has come, on the scale of `total_bytes`."""
        return self._before + (self._raw.tell() if self._raw else 0)

    def __iter__(self) -> Iterator[Entry]:
        self._before = 0
        for file in self.files:
            try:
                yield from self._entries(file)
            except (OSError, EOFError) as error:
                raise RetrievalError(f"{file} cannot be read: {error}") from None
            self._before += file.stat().st_size

    def _entries(self, file: Path) -> Iterator[Entry]:
        with file.open("rb") as raw:
            self._raw = raw
            try:
                content = gzip.GzipFile(fileobj=raw) if file.suffix == ".gz" else raw
                yield from self._readers[_kind(file)](cast(BinaryIO, content), str(file), self.bad)
            finally:
                self._raw = None


def _files(path: Path, readers: Mapping[str, Reader]) -> list[Path]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.is_file() and _kind(file) in READERS)
        visible = [file for file in found if not _hidden(file.relative_to(path))]
        if not visible:
            raise RetrievalError(f"{path} holds nothing to index; give {ACCEPTED}")
        return visible
    if not path.is_file():
        raise RetrievalError(f"{path} does not exist; give {ACCEPTED}")
    if _kind(path) not in readers:
        raise RetrievalError(f"{path} is of no kind that can be indexed; give {ACCEPTED}")
    return [path]


def _kind(file: Path) -> str:
    name = file.with_suffix("") if file.suffix == ".gz" else file
    return name.suffix.lower()


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
