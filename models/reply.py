"""What comes back through the door: a model's reply, or what a retriever found, each with its cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document

from knowwhen.models.cost import Cost
from knowwhen.models.errors import RetrievalError


@dataclass(frozen=True)
class TokenLogprob:
    """One generated token: its log-probability (at most 0) and the most probable tokens at its place."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Reply:
    """The n texts that a model sampled for one prompt, in the order it sent them."""

    texts: tuple[str, ...]
    token_logprobs: (
        tuple[tuple[TokenLogprob, ...], ...] | None
    )  # one inner tuple per text; None: not asked for
    cost: Cost

    @property
    def text(self) -> str:
        """The first text, the only one unless n > 1 was asked for."""
        return self.texts[0]


@dataclass(frozen=True)
class Retrieved:
    """The passages found for one query, best first."""

    documents: tuple[Document, ...]
    cost: Cost


def documents_of(retriever: Any, found: Any) -> list[Document]:
    """What a retriever found, if it is what retrievers give.

    Raises:
        RetrievalError: it is something else; a function of the user's own may give anything.
    """
    if isinstance(found, list | tuple) and all(isinstance(each, Document) for each in found):
        return list(found)
    kinds = sorted({type(each).__name__ for each in found}) if isinstance(found, list | tuple) else []
    given = f"a list of {' and '.join(kinds)}" if kinds else type(found).__name__
    raise RetrievalError(
        f"{type(retriever).__name__} gave {given}; a retriever gives a list of LangChain's Document"
    )


def read_logprobs(metadata: Mapping[str, Any]) -> tuple[TokenLogprob, ...] | None:
    """The token log-probabilities in a message's response metadata; None if there are none.

    OpenAI's layout is `{"logprobs": {"content": [{"token", "logprob", "top_logprobs"}, …]}}`, which vLLM,
    SGLang, llama.cpp's server and this package's own models write too; Ollama puts the list one level higher.
    """
    reported = metadata.get("logprobs")
    if isinstance(reported, Mapping):
        reported = reported.get("content")
    if not isinstance(reported, list):
        return None
    return tuple(
        TokenLogprob(
            token=entry["token"],
            logprob=float(entry["logprob"]),
            top=tuple((other["token"], float(other["logprob"])) for other in entry.get("top_logprobs") or ()),
        )
        for entry in reported
    )
