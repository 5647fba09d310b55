"""Changing an index without ever spoiling it.

The files of an index lie in a folder of their own, a generation. A change writes the next generation beside
it and then replaces the manifest in one step; only after that is the old one deleted. Killed at any moment,
an index is what it was before or what it is after, and a first build is none at all, which opening says.
"""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.manifest import GENERATION, MANIFEST, read_manifest

LOCK = "building.lock"


@contextmanager
def next_generation(folder: Path) -> Iterator[str]:
    """Lock an index folder, made if need be, and yield the name of an empty generation within it.

    The body writes into it and then writes the manifest. Whatever it does, only the generation that the
    manifest names is left afterwards.

    Raises:
        RetrievalError: If the folder holds something else, is being changed by another process, or cannot
            be written (no space left, no permission).
    """
    name = f"{GENERATION}{uuid.uuid4().hex[:8]}"
    try:
        _check_ours(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK, timeout=0):
            (folder / name).mkdir()
            try:
                yield name
            finally:
                _sweep(folder)
    except Timeout:
        raise RetrievalError(f"{folder} is being changed by another process; wait for it to end") from None
    except OSError as error:
        raise RetrievalError(
            f"{folder} could not be written: {error.strerror or error}; what was there before is unchanged"
        ) from None
    finally:
        _remove_if_empty(folder)


def link_files(source: Path, target: Path) -> None:
    """Put the files of one folder into another without copying their bytes, where the disk can do that.

    tantivy never writes into a file that exists, it only adds and replaces files, so both folders stay valid.
    """
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.suffix == ".lock":
            continue
        try:
            (target / path.name).hardlink_to(path)
        except OSError:
            shutil.copy2(path, target / path.name)


def _check_ours(folder: Path) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    ours = folder.is_dir() and (any(folder.glob(f"{GENERATION}*")) or (folder / LOCK).exists())
    if not ours:
        raise RetrievalError(f"{folder} exists and is not an index of knowwhen; choose another folder")


def _sweep(folder: Path) -> None:
    """Delete every generation but the one that the manifest names."""
    try:
        current = read_manifest(folder).generation
    except RetrievalError:
        current = ""
    for path in folder.glob(f"{GENERATION}*"):
        if path.name != current:
            shutil.rmtree(path, ignore_errors=True)
    (folder / f"{MANIFEST}.new").unlink(missing_ok=True)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not (folder / MANIFEST).exists() and not any(folder.glob(f"{GENERATION}*")):
        (folder / LOCK).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
