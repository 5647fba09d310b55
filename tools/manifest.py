"""The manifest of an index: what it holds and how it was made, checked whenever the index is opened."""

import hashlib
import json
import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.analyzer import Analyzer

MANIFEST = "manifest.json"
FORMAT = "knowwhen index"
VERSION = 1
GENERATION = "generation-"
"""An index's files lie in one folder of this prefix; the manifest names the one that counts."""
PASSAGES = "passages"
"""The tantivy folder of a generation."""
VECTORS = "vectors.faiss"
CHECKED_ON_OPENING = 4 * 2**20
"""Files up to this size, in bytes, are read and compared on opening; larger ones by their size alone."""

Kind = Literal["bm25", "dense", "hybrid"]


class EncoderRecord(BaseModel, frozen=True, extra="forbid"):
    """The encoder of a dense index, as far as a question must be encoded in the same way."""

    name: str
    dimension: int = Field(ge=1)
    normalised: Literal[True] = True
    query_prefix: str
    passage_prefix: str
    probe: list[float]
    """The first numbers of the vector of a fixed sentence: other weights under this name give others."""


class FileRecord(BaseModel, frozen=True, extra="forbid"):
    """One file of the index."""

    bytes: int
    sha256: str


class Manifest(BaseModel, frozen=True, extra="forbid"):
    """Everything that must be known to open an index."""

    format: Literal["knowwhen index"] = "knowwhen index"
    version: Literal[1] = 1
    kind: Kind
    passages: int
    generation: str
    analyzer: Analyzer
    encoder: EncoderRecord | None
    sources: dict[str, int]
    """The files the passages were read from, and how many came from each."""
    files: dict[str, FileRecord]

    def write(self, folder: Path) -> None:
        """Put the manifest in its place in one step, so that a reader sees the old one or this."""
        content = self.model_dump()
        record = {**content, "checksum": checksum_of(content)}
        pending = folder / f"{MANIFEST}.new"
        with pending.open("w", encoding="utf-8") as file:
            json.dump(record, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        pending.replace(folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of an index.

    Raises:
        RetrievalError: If there is no index, or it is incomplete, damaged, foreign or of a newer format.
    """
    try:
        record = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise _no_manifest(folder) from None
    except (ValueError, OSError) as error:
        raise damaged(folder, f"{MANIFEST} cannot be read ({error})") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RetrievalError(
            f"{folder} holds a {MANIFEST} that is not knowwhen's; build an index with `knowwhen index build`"
        )
    if record.get("version") != VERSION:
        raise RetrievalError(
            f"{folder} is an index of format {record.get('version')}, this knowwhen reads format {VERSION}; "
            "rebuild it with `knowwhen index build` or install the knowwhen that built it"
        )
    checksum = record.pop("checksum", None)
    if checksum != checksum_of(record):
        raise damaged(folder, f"{MANIFEST} was changed")
    try:
        return Manifest.model_validate(record)
    except ValidationError as error:
        raise damaged(folder, f"{MANIFEST} has a wrong {error.errors()[0]['loc'][0]}") from None


def file_record(path: Path) -> FileRecord:
    """Size and checksum of a file."""
    return FileRecord(bytes=path.stat().st_size, sha256=_sha256(path))


def record_files(folder: Path, generation: str) -> dict[str, FileRecord]:
    """Size and checksum of every file of a generation, by its path within the index folder."""
    paths = sorted(path for path in (folder / generation).rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): file_record(path) for path in paths if path.suffix != ".lock"
    }


def check_files(folder: Path, manifest: Manifest, thorough: bool = False) -> None:
    """Compare the files of an index with its manifest.

    Sizes always; contents of files up to `CHECKED_ON_OPENING` bytes, and of all if thorough.

    Raises:
        RetrievalError: If a file is missing or differs.
    """
    for name, record in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise damaged(folder, f"{name} is missing")
        if path.stat().st_size != record.bytes:
            raise damaged(folder, f"{name} has {path.stat().st_size:,} bytes instead of {record.bytes:,}")
        if (thorough or record.bytes <= CHECKED_ON_OPENING) and _sha256(path) != record.sha256:
            raise damaged(folder, f"the contents of {name} have changed")


def sound_manifest(folder: Path, thorough: bool = False) -> Manifest:
    """Read the manifest and check the files it names.

    An index that was replaced between the two is read again.

    Raises:
        RetrievalError: As `read_manifest` and `check_files`.
    """
    manifest = read_manifest(folder)
    try:
        check_files(folder, manifest, thorough)
    except RetrievalError:
        newer = read_manifest(folder)
        if newer.generation == manifest.generation:
            raise
        check_files(folder, newer, thorough)
        return newer
    return manifest


def damaged(folder: Path, reason: str) -> RetrievalError:
    """The error for an index whose files are not what its manifest says."""
    return RetrievalError(f"{folder} is damaged: {reason}; rebuild it with `knowwhen index build`")


def _no_manifest(folder: Path) -> RetrievalError:
    if not folder.exists():
        return RetrievalError(f"{folder} does not exist; build an index there with `knowwhen index build`")
    if not folder.is_dir():
        return RetrievalError(f"{folder} is a file, not an index; index it with `knowwhen index build`")
    if any(folder.glob(f"{GENERATION}*")):
        return RetrievalError(
            f"{folder} is incomplete, its building was interrupted; rebuild it with `knowwhen index build`"
        )
    return RetrievalError(
        f"{folder} holds no index ({MANIFEST} is missing); build one with `knowwhen index build`"
    )


def checksum_of(record: dict[str, object]) -> str:
    """The checksum that seals a manifest, of everything else in it."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
