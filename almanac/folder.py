"""The folder of an almanac: it gets all of its files or, if anything goes wrong, none.

They are made in a folder within it and moved to their places when all are complete. Killed while they are
made, an almanac is what it was before; killed while they are moved, it lacks some, but files of two worlds
never stand side by side.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from knowwhen.almanac.splits import SPLITS, Split
from knowwhen.models.errors import KnowwhenError

CORPUS = "corpus.jsonl"
INDEX = "index"
UNFINISHED = ".unfinished"


def questions_file(split: Split) -> str:
    """The name of the file that holds a split's questions."""
    return f"questions-{split}.jsonl"


# The index belongs to the corpus: it is moved in last and taken away first.
FILES = (CORPUS, *(questions_file(split) for split in SPLITS), INDEX)


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield an empty folder; when the body ends well, what it has put there is the almanac in `folder`.

    Args:
        folder: A new folder, an empty one, or an almanac's, which is replaced.

    Raises:
        KnowwhenError: If `folder` is a file or holds anything else, cannot be written (no space left, no
            permission), or is being written by another process.
    """
    new = folder / UNFINISHED
    was_there = folder.exists()
    try:
        _check_ours(folder)
        new.mkdir(parents=True, exist_ok=True)
        with FileLock(new / "lock", timeout=0):
            files = new / "almanac"
            if files.exists():  # left by a process that was killed
                shutil.rmtree(files)
            files.mkdir()
            try:
                yield files
                _move(files, folder)
            finally:
                shutil.rmtree(new, ignore_errors=True)
    except Timeout:
        raise KnowwhenError(f"{folder} is being written by another process; wait for it to end") from None
    except OSError as error:
        raise KnowwhenError(
            f"{folder} could not be written: {error.strerror or error}; make room or choose another folder"
        ) from None
    finally:
        if not was_there and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _check_ours(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise KnowwhenError(f"{folder} is a file; choose another place for the almanac")
    foreign = sorted(path.name for path in folder.iterdir() if not _is_ours(path))
    if foreign:
        raise KnowwhenError(f"{folder} holds {foreign[0]}, which is no almanac's; choose an empty folder")


def _is_ours(path: Path) -> bool:
    if path.name == UNFINISHED:
        return True
    if path.name == INDEX:
        return path.with_name(CORPUS).is_file()
    return path.name in FILES and path.is_file() and _begins_as_ours(path)


def _begins_as_ours(path: Path) -> bool:
    # Anybody's folder may hold a corpus.jsonl; it is not to be overwritten for its name alone.
    try:
        with path.open(encoding="utf-8") as file:
            record = json.loads(file.readline())
    except ValueError:
        return False
    if not isinstance(record, dict):
        return False
    if path.name == CORPUS:
        return list(record) == ["id", "title", "text", "kind"]
    return "cut_off" in record.get("metadata", {})


def _move(files: Path, folder: Path) -> None:
    for name in reversed(FILES):
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for name in FILES:
        if (files / name).exists():
            (files / name).rename(folder / name)
