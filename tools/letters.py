"""An encoder that needs no download, and from an encoder's name to the encoder."""

from collections.abc import Sequence

import numpy as np

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.encoder import PROBE, PROBE_LENGTH, PROBE_TOLERANCE, Encoder, Vectors
from knowwhen.tools.manifest import EncoderRecord

LETTERS = "letters"
DIMENSION = 256


class Letters:
    """Texts as counts of their letter pairs and triples, hashed into unit vectors.

    It knows no meaning, only spelling: enough to find texts about the same names and in the same wording.
    Safe to use from many threads.
    """

    name = LETTERS
    dimension = DIMENSION

    def __init__(self) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer

        self._counts = HashingVectorizer(
            analyzer="char_wb", ngram_range=(2, 3), n_features=DIMENSION, norm="l2", dtype=np.float32
        )

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode texts: [n, 256], float32, each of length 1, or 0 where a text has no letters."""
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        return np.ascontiguousarray(self._counts.transform(texts).toarray(), dtype=np.float32)

    def record(self) -> EncoderRecord:
        """What a manifest says of this encoder."""
        return EncoderRecord(
            name=self.name,
            dimension=DIMENSION,
            query_prefix="",
            passage_prefix="",
            probe=[round(float(value), 5) for value in self._probe()],
        )

    def check(self, record: EncoderRecord) -> None:
        """Make sure that this is the encoder that vectors were made with.

        Raises:
            RetrievalError: If it gives others.
        """
        same = record.dimension == DIMENSION and len(record.probe) == PROBE_LENGTH
        if not (same and np.allclose(self._probe(), record.probe, atol=PROBE_TOLERANCE)):
            raise RetrievalError(
                "the encoder letters gives other vectors than when these were made; make them anew"
            )

    def _probe(self) -> Vectors:
        probe: Vectors = self.queries([PROBE])[0, :PROBE_LENGTH]
        return probe


AnyEncoder = Encoder | Letters


def resolve_encoder(name: str) -> AnyEncoder:
    """The encoder that a name stands for.

    Args:
        name: `letters`, or a folder or hub id of a sentence-transformers model.

    Raises:
        RetrievalError: If the model cannot be loaded.
    """
    return Letters() if name == LETTERS else Encoder(name)
