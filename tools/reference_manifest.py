"""The manifest of a utility reference set: what it holds and how it was made, checked on opening."""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.labelled import Origin
from knowwhen.tools.manifest import EncoderRecord, FileRecord, checksum_of, file_record

MANIFEST = "manifest.json"
FORMAT = "knowwhen reference"
VERSION = 1
BUILD = "`knowwhen train reference`"


class LabelCounts(BaseModel, frozen=True, extra="forbid"):
    """How many passages were labelled how; the neutral ones are not in the set."""

    helpful: int
    harmful: int
    neutral: int


class ReferenceManifest(BaseModel, frozen=True, extra="forbid"):
    """Everything that must be known to open a reference set."""

    format: Literal["knowwhen reference"] = "knowwhen reference"
    version: Literal[1] = 1
    labels: LabelCounts
    origin: Origin
    encoder: EncoderRecord
    files: dict[str, FileRecord]

    def as_text(self) -> str:
        """The file's content, sealed with its checksum."""
        content = self.model_dump()
        return json.dumps({**content, "checksum": checksum_of(content)}, indent=1) + "\n"


def read_reference_manifest(folder: Path) -> ReferenceManifest:
    """Read and check the manifest of a reference set.

    Raises:
        RetrievalError: If there is no set, or it is incomplete, damaged, foreign or of a newer format.
    """
    try:
        record = json.loads((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise _no_manifest(folder) from None
    except (ValueError, RecursionError, OSError) as error:
        raise damaged(folder, f"{MANIFEST} cannot be read ({error})") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RetrievalError(
            f"{folder} holds a {MANIFEST} of something else than a reference set; build one with {BUILD}"
        )
    if record.get("version") != VERSION:
        raise RetrievalError(
            f"{folder} is a reference set of format {record.get('version')}, this knowwhen reads format "
            f"{VERSION}; rebuild it with {BUILD} or install the knowwhen that built it"
        )
    checksum = record.pop("checksum", None)
    if checksum != checksum_of(record):
        raise damaged(folder, f"{MANIFEST} was changed")
    try:
        return ReferenceManifest.model_validate(record)
    except ValidationError as error:
        raise damaged(folder, f"{MANIFEST} has a wrong {error.errors()[0]['loc'][0]}") from None


def check_file(folder: Path, name: str, manifest: ReferenceManifest) -> None:
    """Compare a file of the set with the manifest.

    Raises:
        RetrievalError: If it is missing or differs.
    """
    try:
        same = name in manifest.files and file_record(folder / name) == manifest.files[name]
    except OSError as error:
        raise damaged(folder, f"{name} cannot be read ({error.strerror or error})") from None
    if not same:
        raise damaged(folder, f"the contents of {name} have changed")


def damaged(folder: Path, reason: str) -> RetrievalError:
    """The error for a set whose files are not what its manifest says."""
    return RetrievalError(
        f"{folder} is damaged: {reason}; rebuild it with {BUILD}, which asks nothing again that its "
        "journal holds"
    )


def _no_manifest(folder: Path) -> RetrievalError:
    if not folder.exists():
        return RetrievalError(f"{folder} does not exist; build a reference set there with {BUILD}")
    if not folder.is_dir():
        return RetrievalError(
            f"{folder} is a file, not the folder of a reference set; build one with {BUILD}"
        )
    if any((folder / name).exists() for name in ("journal.jsonl", "reference.jsonl")):
        return RetrievalError(f"{folder} is incomplete, its building was interrupted; go on with {BUILD}")
    return RetrievalError(f"{folder} holds no reference set ({MANIFEST} is missing); build one with {BUILD}")
