"""Fingerprints of what a run depends on and its name does not tell: weights and prompts."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from langchain_core.language_models import BaseChatModel

PIECE = 2**20  # bytes read at both ends of a file of weights


def fingerprint(pieces: Iterable[bytes]) -> str:
    """16 hexadecimal digits that change with the pieces and with where one ends."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(len(piece).to_bytes(8) + piece)
    return digest.hexdigest()[:16]


def weights_of(model: BaseChatModel) -> str:
    """A fingerprint of a local model's weights: a model that was trained anew has the name of the old one.

    Of each file its name, its size and its two ends: training moves all weights, and a model may be large.
    Empty for a model that lies in no folder; that of then for one that stands in for a recorded model.
    """
    recorded = getattr(model, "recorded_weights", None)
    if isinstance(recorded, str):
        return recorded
    path = getattr(model, "path", None)
    if not isinstance(path, str) or not path or not Path(path).expanduser().is_dir():
        return ""
    return fingerprint(
        piece
        for file in sorted(Path(path).expanduser().glob("*.safetensors"))
        for piece in (file.name.encode(), *_ends(file))
    )


def _ends(file: Path) -> Iterator[bytes]:
    size = file.stat().st_size
    yield str(size).encode()
    with file.open("rb") as content:
        yield content.read(PIECE)
        content.seek(max(0, size - PIECE))
        yield content.read(PIECE)
