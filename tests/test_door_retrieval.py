"""Any retriever is told how many passages to look for, in the way it understands."""

from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from scripted import ScriptedChat

from knowwhen.models import Door
from knowwhen.models.errors import RetrievalError, SettingsError

SHELF = [Document(f"passage {i}") for i in range(8)]


class TakesK(BaseRetriever):
    k: int = 2

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return SHELF[: k or self.k]


class HoldsTopKResults(BaseRetriever):
    top_k_results: int = 2

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return SHELF[: self.top_k_results]


class KnowsNoCount(BaseRetriever):
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return SHELF


class Fails(BaseRetriever):
    failures: list[Any]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.failures:
            raise self.failures.pop(0)
        return SHELF[:1]


class Gives(BaseRetriever):
    """Whatever it is told to, as a function of a user's own may."""

    found: Any

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        found: list[Document] = self.found
        return found


@pytest.mark.parametrize(
    ("found", "given"),
    [(None, "NoneType"), ("a text", "str"), (["a text", SHELF[0]], "a list of Document and str"), (7, "int")],
)
def test_what_is_no_list_of_documents_is_refused(found: Any, given: str) -> None:
    door = Door(ScriptedChat([]), Gives(found=found))
    with pytest.raises(RetrievalError, match=f"^Gives gave {given}; a retriever gives a list of"):
        door.retrieve("q", 2)


def in_memory() -> BaseRetriever:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    store.add_documents(SHELF)
    return store.as_retriever(search_kwargs={"k": 2})


@pytest.mark.parametrize("make", [TakesK, HoldsTopKResults, KnowsNoCount, in_memory])
@pytest.mark.parametrize("k", [1, 5])
def test_a_retriever_finds_k_passages_and_they_are_counted(make: Any, k: int) -> None:
    retriever = make()
    found = Door(ScriptedChat([]), retriever).retrieve("anything", k)
    assert len(found.documents) == k
    assert (found.cost["retrievals"], found.cost["passages"]) == (1, k)


def test_the_users_retriever_keeps_its_own_count() -> None:
    retriever = HoldsTopKResults()
    Door(ScriptedChat([]), retriever).retrieve("anything", 7)
    assert retriever.top_k_results == 2


def test_a_door_without_a_retriever_says_so() -> None:
    with pytest.raises(SettingsError, match="self_dc looks things up and has no retriever"):
        Door(ScriptedChat([]), asked_by="self_dc").retrieve("q", 3)


def test_no_passage_at_all_cannot_be_asked_for() -> None:
    with pytest.raises(SettingsError, match="at least 1 passage"):
        Door(ScriptedChat([]), TakesK()).retrieve("q", 0)


def test_a_passing_failure_of_a_search_is_tried_again_and_counted_once() -> None:
    found = Door(ScriptedChat([]), Fails(failures=[ConnectionError("reset")])).retrieve("q", 3)
    assert found.cost["retrievals"] == 1


def test_a_lasting_failure_of_a_search_is_one_line() -> None:
    with pytest.raises(RetrievalError, match=r"^Fails failed \(KeyError: 'title'\); [^\n]*$"):
        Door(ScriptedChat([]), Fails(failures=[KeyError("title")])).retrieve("q", 3)


def test_a_refusal_of_our_own_passes_untouched() -> None:
    refusal = RetrievalError("the index in x is damaged; build it again")
    with pytest.raises(RetrievalError) as raised:
        Door(ScriptedChat([]), Fails(failures=[refusal])).retrieve("q", 3)
    assert raised.value is refusal
