"""Dense retrieval: the passages whose vectors are nearest to the question's."""

from langchain_core.documents import Document

from knowwhen.tools.encoder import Encoder
from knowwhen.tools.retriever import PassageRetriever
from knowwhen.tools.store import PassageStore
from knowwhen.tools.vectors import VectorStore


class DenseRetriever(PassageRetriever):
    """Ranks the passages of an index by the cosine of their vector and the question's."""

    store: PassageStore
    vectors: VectorStore
    encoder: Encoder

    def search(self, query: str, k: int) -> list[Document]:
        """Return the k nearest passages, best first; an empty query finds nothing."""
        if not query.strip():
            return []
        numbers, scores = self.vectors.nearest(self.encoder.queries([query]), k)
        return self.store.numbered(numbers, scores)
