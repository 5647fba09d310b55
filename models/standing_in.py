"""Stands in for a model or a retriever whose replies are recorded: no weights, no key and no index is needed.

While a recording is made, every model that a string names tells what it is; while one is played, the string
gives a stand-in that says the same of itself.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.retrievers import BaseRetriever
from pydantic import BaseModel

from knowwhen.models.capability import Capability, capabilities, describe
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.fingerprint import weights_of

NO_REPLY = "no model and no retriever is asked while a recording is played"


class ModelRecord(BaseModel, frozen=True, extra="forbid"):
    """What a graph is built by."""

    described: str
    reports: tuple[Capability, ...]
    weights: str
    """A fingerprint of a local model's weights; empty for others."""


Resolve = Callable[[str], BaseChatModel]
Cast = Callable[[str, Resolve], BaseChatModel]
CAST: ContextVar[Cast | None] = ContextVar("cast", default=None)
"""Gives the model that a string names, by the way that is usual if it likes."""
PLAYING: ContextVar[bool] = ContextVar("playing", default=False)
"""Whether retrievers need not be had."""


class StandInModel(BaseChatModel):
    """Says of itself what a recorded model said, and answers nothing."""

    described: str
    reports: frozenset[Capability]
    recorded_weights: str

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise KnowwhenError(NO_REPLY)


class StandInRetriever(BaseRetriever):
    """Finds nothing: it is never asked."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        raise KnowwhenError(NO_REPLY)


@contextmanager
def noting_models() -> Iterator[dict[str, ModelRecord]]:
    """Note what the models are that strings name meanwhile, by those strings."""
    noted: dict[str, ModelRecord] = {}
    usual = CAST.get()

    def note(name: str, resolve: Resolve) -> BaseChatModel:
        model = usual(name, resolve) if usual else resolve(name)
        noted[name] = ModelRecord(
            described=describe(model), reports=tuple(sorted(capabilities(model))), weights=weights_of(model)
        )
        return model

    before = CAST.set(note)
    try:
        yield noted
    finally:
        CAST.reset(before)


@contextmanager
def standing_in(recorded: Mapping[str, ModelRecord], where: str) -> Iterator[None]:
    """Let strings name stand-ins for models that were recorded, and for any retriever.

    Args:
        recorded: what the models said of themselves, by the strings.
        where: the recording, for the error.
    """

    def cast(name: str, resolve: Resolve) -> BaseChatModel:
        if name == "pocket":  # the package has it, and it is loaded only when it is asked
            return resolve(name)
        if name not in recorded:
            raise SettingsError(
                f"{where} was recorded with {', '.join(recorded) or 'no model'}, not with {name}; replay it "
                "with the models of then"
            )
        known = recorded[name]
        return StandInModel(
            described=known.described, reports=frozenset(known.reports), recorded_weights=known.weights
        )

    before = CAST.set(cast)
    replaying = PLAYING.set(True)
    try:
        yield
    finally:
        CAST.reset(before)
        PLAYING.reset(replaying)
