"""A sentence-transformers model that turns questions and passages into vectors."""

import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.manifest import EncoderRecord

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
E5 = re.compile(r"(^|[-_/\\])e5[-_]")
"""E5 models were trained with these two words before every text, but not all of them say so."""
E5_PREFIXES = ("query: ", "passage: ")
PROBE = "The river was named after the sister of its discoverer."
PROBE_LENGTH = 8
PROBE_TOLERANCE = 0.02
"""Half precision or another device moves a component of a unit vector by less."""
BATCH = 32

Vectors = NDArray[np.float32]


class Encoder:
    """Encodes to unit vectors, so that an inner product is a cosine. Safe to use from many threads.

    Args:
        name: A folder or a hub id of a sentence-transformers model.

    Raises:
        RetrievalError: If the model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._model = _load(name)
        self._lock = threading.Lock()  # a fast tokenizer cannot be used by two threads at once
        self.query_prefix, self.passage_prefix = _prefixes(name, self._model)
        self.dimension = self.queries([PROBE]).shape[1]

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode questions: [n, dimension], float32, each of length 1."""
        return self._encode([self.query_prefix + text for text in texts])

    def passages(self, titles_and_texts: Sequence[tuple[str, str]]) -> Vectors:
        """Encode passages, the title in front of the text: [n, dimension], float32, each of length 1."""
        return self._encode([self.passage_prefix + f"{title}\n{text}" for title, text in titles_and_texts])

    def record(self) -> EncoderRecord:
        """What a manifest says of this encoder."""
        return EncoderRecord(
            name=self.name,
            dimension=self.dimension,
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            probe=self._probe(),
        )

    def check(self, record: EncoderRecord) -> None:
        """Make sure that this is the encoder that an index was built with.

        Raises:
            RetrievalError: If its vectors or prefixes differ.
        """
        same_prefixes = (self.query_prefix, self.passage_prefix) == (
            record.query_prefix,
            record.passage_prefix,
        )
        same_vectors = self.dimension == record.dimension and np.allclose(
            self._probe(), record.probe, atol=PROBE_TOLERANCE
        )
        if not (same_prefixes and same_vectors):
            raise RetrievalError(
                f"the encoder {self.name} gives other vectors than when the index was built with it; "
                "bring back the model of then, or rebuild the index with `knowwhen index build`"
            )

    def _probe(self) -> list[float]:
        return [round(float(value), 5) for value in self.queries([PROBE])[0, :PROBE_LENGTH]]

    def _encode(self, texts: list[str]) -> Vectors:
        with self._lock:
            vectors = self._model.encode(
                texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False, prompt=""
            )
        return np.ascontiguousarray(vectors, dtype=np.float32)


def known_encoder(record: EncoderRecord) -> Encoder:
    """Load the encoder that an index was built with.

    Raises:
        RetrievalError: If it cannot be loaded, or has changed since.
    """
    encoder = Encoder(record.name)
    encoder.check(record)
    return encoder


def _load(name: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise RetrievalError(
            f"the encoder {name!r} could not be loaded, give a folder or hub id of a sentence-transformers "
            f"model: {str(error).splitlines()[0]}"
        ) from None


def _prefixes(name: str, model: "SentenceTransformer") -> tuple[str, str]:
    """What goes before a question and before a passage: what the model says itself, or E5's words."""
    prompts = model.prompts
    query, passage = prompts.get("query") or "", prompts.get("document") or prompts.get("passage") or ""
    if not query and not passage and E5.search(name.lower()):
        return E5_PREFIXES
    return query, passage
