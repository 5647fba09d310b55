"""What knowwhen's own retrievers share: `retriever.invoke(query, k=5)` over passages."""

from abc import abstractmethod
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from knowwhen.models.errors import SettingsError


class PassageRetriever(BaseRetriever):
    """A retriever that takes `k`, the number of passages, as a field and per call.

    Its documents hold the passage's text, and `id`, `title`, `source` and `score` as metadata.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    k: int = Field(default=3, ge=1, description="How many passages to return.")

    @abstractmethod
    def search(self, query: str, k: int) -> list[Document]:
        """Return at most k passages for the query, best first."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **_: Any
    ) -> list[Document]:
        count = self.k if k is None else k
        if count < 1:
            raise SettingsError(f"k is the number of passages to return, at least 1, not {count}")
        # Half a surrogate pair, as a broken \u escape leaves it, is no text that could be searched for.
        return self.search(query.encode(errors="replace").decode(), count)
