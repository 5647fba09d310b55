"""Reciprocal-rank fusion: several rankings become one (Cormack, Clarke and Büttcher, 2009)."""

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from knowwhen.tools.retriever import PassageRetriever


class FusionRetriever(PassageRetriever):
    """Scores a passage by the sum of 1 / (constant + rank) over the retrievers that found it.

    Passages are the same if their ids are or, where a foreign retriever gives none, their texts.
    """

    retrievers: list[BaseRetriever] = Field(min_length=1)
    constant: int = Field(default=60, ge=0, description="Damps the weight of the first ranks.")
    depth: int = Field(default=100, ge=1, description="How many passages to take from each retriever.")

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most k passages, best first; equal ones in the order of the retrievers."""
        scores: dict[str, float] = {}
        found: dict[str, Document] = {}
        for retriever in self.retrievers:
            ranking = {_identity(hit): hit for hit in retriever.invoke(query, k=max(k, self.depth))}
            for rank, (identity, document) in enumerate(ranking.items(), start=1):
                found.setdefault(identity, document)
                scores[identity] = scores.get(identity, 0.0) + 1 / (self.constant + rank)
        best = sorted(scores, key=lambda identity: -scores[identity])[:k]
        return [with_score(found[identity], scores[identity]) for identity in best]


def with_score(document: Document, score: float) -> Document:
    """The same document with another score."""
    return document.model_copy(update={"metadata": {**document.metadata, "score": score}})


def _identity(document: Document) -> str:
    return str(document.metadata.get("id") or document.id or document.page_content)
