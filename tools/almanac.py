"""The almanac as a retriever: its passages are indexed once, in the user's cache folder."""

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from knowwhen.almanac.passages import corpus
from knowwhen.almanac.world import World, default_world
from knowwhen.models.errors import RetrievalError
from knowwhen.tools.entry import Entry
from knowwhen.tools.index import build_index
from knowwhen.tools.manifest import VERSION
from knowwhen.tools.opening import open_index
from knowwhen.tools.retriever import PassageRetriever


def almanac_retriever() -> PassageRetriever:
    """Open the index of the default world's passages; the first call builds it."""
    return cached_index("almanac", almanac_entries(default_world()))


def almanac_entries(world: World) -> list[Entry]:
    """The passages of a world, as a corpus to index."""
    return [Entry(passage.id, passage.title, passage.text, "almanac") for passage in corpus(world)]


def cached_index(name: str, entries: Sequence[Entry]) -> PassageRetriever:
    """Open the index of these entries in the cache folder, and build it if there is no sound one.

    The folder's name holds a fingerprint of the entries, so that other entries get another index. Of two
    processes that find none, one builds and the other waits.
    """
    folder = cache_folder() / f"{name}-{_fingerprint(entries)}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        try:
            return open_index(folder)
        except RetrievalError:
            build_index(entries, folder)
            return open_index(folder)


def cache_folder() -> Path:
    """Where knowwhen keeps what it can make again: `KNOWWHEN_CACHE`, or the platform's cache folder."""
    if chosen := os.environ.get("KNOWWHEN_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "knowwhen"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "knowwhen"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "knowwhen"


def _fingerprint(entries: Sequence[Entry]) -> str:
    digest = hashlib.sha256(f"format {VERSION}".encode())
    for entry in entries:
        digest.update("\0".join([entry.id, entry.title, entry.text]).encode() + b"\0\0")
    return digest.hexdigest()[:16]
