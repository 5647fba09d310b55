"""A retrieved passage, as every method reports it in its steps: JSON and nothing else."""

import math
from collections.abc import Sequence
from typing import Annotated

from langchain_core.documents import Document
from pydantic import Field
from typing_extensions import TypedDict


class Passage(TypedDict):
    """One retrieved text."""

    id: Annotated[str, Field(description="The retriever's own, or the rank")]
    title: Annotated[str, Field(description="Of what the text is from; empty if unknown")]
    text: Annotated[str, Field(description="What was read")]
    source: Annotated[str, Field(description="Where it was found; empty if unknown")]
    rank: Annotated[int, Field(description="1 is the best")]
    score: Annotated[
        float | None,
        Field(description="Higher is better; comparable within one answer of one retriever only"),
    ]


def as_passages(documents: Sequence[Document]) -> list[Passage]:
    """Turn what a LangChain retriever returned, best first, into passages.

    A foreign retriever need not fill the metadata: a missing id becomes the document's own or its rank, a
    missing title or source the empty string, and a score that is no finite number becomes None.
    """
    return [_as_passage(document, rank) for rank, document in enumerate(documents, start=1)]


def name_of(passage: Passage) -> str:
    """What a passage is called where sources are told: its title, else where it was found, else its id."""
    return passage["title"].strip() or passage["source"].strip() or f"passage {passage['id']}"


def _as_passage(document: Document, rank: int) -> Passage:
    metadata = document.metadata
    return Passage(
        id=str(metadata.get("id") or document.id or rank),
        title=str(metadata.get("title") or ""),
        text=document.page_content,
        source=str(metadata.get("source") or ""),
        rank=rank,
        score=_finite(metadata.get("score")),
    )


def _finite(score: object) -> float | None:
    # numpy's and torch's scalars are no Python floats, but turn into one; JSON knows no NaN.
    if isinstance(score, str | bytes | bool) or not hasattr(score, "__float__"):
        return None
    number = float(score)
    return number if math.isfinite(number) else None
