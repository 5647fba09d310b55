"""Reranking: a slower model reorders what a faster retriever found."""

import threading
from collections.abc import Callable, Sequence

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from knowwhen.models.errors import RetrievalError, SettingsError
from knowwhen.tools.encoder import Encoder
from knowwhen.tools.fusion import with_score
from knowwhen.tools.retriever import PassageRetriever

Scorer = Callable[[str, Sequence[Document]], Sequence[float]]
"""From a question and n passages to n scores, higher is better."""


class RerankingRetriever(PassageRetriever):
    """Takes `depth` passages from any retriever and returns the k that a scorer likes best."""

    retriever: BaseRetriever
    scorer: Scorer
    depth: int = Field(default=50, ge=1, description="How many passages to score.")

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most k passages, best first; equal scores in the order they were found."""
        documents = self.retriever.invoke(query, k=max(k, self.depth))
        if not documents:
            return []
        scores = self.scorer(query, documents)
        ranked = sorted(zip(documents, scores, strict=True), key=lambda pair: -pair[1])
        return [with_score(document, float(score)) for document, score in ranked[:k]]


def reranked(retriever: BaseRetriever, model: str, *, k: int = 3, depth: int = 50) -> RerankingRetriever:
    """Rerank what a retriever finds with a sentence-transformers model.

    Args:
        retriever: Any retriever; one that takes no `k` gives as many passages as it gives.
        model: Folder or hub id of a cross-encoder (reads question and passage together) or a bi-encoder.
        k: How many passages to return.
        depth: How many passages to score.

    Raises:
        RetrievalError: If the model cannot be loaded.
        SettingsError: If it is a classifier of several classes, which gives no order.
    """
    scorer = cross_encoder(model) if _is_cross_encoder(model) else bi_encoder(model)
    return RerankingRetriever(retriever=retriever, scorer=scorer, k=k, depth=depth)


def cross_encoder(name: str) -> Scorer:
    """Score question and passage by a cross-encoder of one output."""
    from sentence_transformers import CrossEncoder

    try:
        model = CrossEncoder(name)
    except (OSError, ValueError) as error:
        raise _not_loaded(name, error) from None
    if model.num_labels != 1:
        raise SettingsError(
            f"the reranker {name!r} sorts into {model.num_labels} classes; give a cross-encoder of one output"
        )
    lock = threading.Lock()  # a fast tokenizer cannot be used by two threads at once

    def score(query: str, documents: Sequence[Document]) -> Sequence[float]:
        with lock:
            scores = model.predict([(query, _text(hit)) for hit in documents], show_progress_bar=False)
        return [float(value) for value in scores]

    return score


def bi_encoder(name: str) -> Scorer:
    """Score question and passage by the cosine of their vectors."""
    encoder = Encoder(name)

    def score(query: str, documents: Sequence[Document]) -> Sequence[float]:
        passages = encoder.passages([(_title(hit), hit.page_content) for hit in documents])
        return [float(value) for value in passages @ encoder.queries([query])[0]]

    return score


def _is_cross_encoder(name: str) -> bool:
    from transformers import AutoConfig

    try:
        architectures = AutoConfig.from_pretrained(name).architectures or []
    except (OSError, ValueError) as error:
        raise _not_loaded(name, error) from None
    return any(architecture.endswith("ForSequenceClassification") for architecture in architectures)


def _not_loaded(name: str, error: Exception) -> RetrievalError:
    return RetrievalError(
        f"the reranker {name!r} could not be loaded, give a folder or hub id of a sentence-transformers "
        f"model: {str(error).splitlines()[0]}"
    )


def _title(document: Document) -> str:
    return str(document.metadata.get("title") or "")


def _text(document: Document) -> str:
    return f"{_title(document)}\n{document.page_content}".strip()
