"""Passages from documents, and retrievers from what a user names."""

import json
from pathlib import Path

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from knowwhen import tools
from knowwhen.almanac import corpus, default_world
from knowwhen.models.errors import RetrievalError, SettingsError
from knowwhen.tools import Entry, as_passages, build_index, resolve_retriever
from knowwhen.tools.almanac import cache_folder, cached_index
from knowwhen.tools.web import WebRetriever

PARIS = Entry("1", "Paris", "The capital of France.", "wiki")


def test_every_public_name_of_the_tools_can_be_had() -> None:
    assert sorted(tools.__all__) == sorted(tools._HOMES)
    assert all(getattr(tools, name) for name in tools.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tools.nonsense  # noqa: B018


def test_documents_become_passages_in_their_order() -> None:
    documents = [
        Document(page_content="a", metadata={"id": 7, "title": "A", "source": "s", "score": np.float32(0.5)}),
        Document(page_content="b", id="own"),
        Document(page_content="c", metadata={"title": None, "score": float("nan")}),
    ]
    expected = [
        {"id": "7", "title": "A", "text": "a", "source": "s", "rank": 1, "score": 0.5},
        {"id": "own", "title": "", "text": "b", "source": "", "rank": 2, "score": None},
        {"id": "3", "title": "", "text": "c", "source": "", "rank": 3, "score": None},
    ]
    assert as_passages(documents) == expected
    assert json.loads(json.dumps(as_passages(documents), allow_nan=False)) == expected


@pytest.mark.parametrize("score", ["0.5", "high", None, [1], True, float("inf")])
def test_a_score_that_is_no_finite_number_is_none(score: object) -> None:
    assert as_passages([Document(page_content="a", metadata={"score": score})])[0]["score"] is None


def test_a_retriever_is_taken_as_it_is() -> None:
    class Mine(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: object) -> list[Document]:
            return [Document(page_content=query)]

    mine = Mine()
    assert resolve_retriever(mine) is mine


def test_the_folder_of_an_index_is_opened_by_string_and_by_path(tmp_path: Path) -> None:
    build_index([PARIS], tmp_path / "index")
    for name in (tmp_path / "index", str(tmp_path / "index")):
        assert resolve_retriever(name).invoke("capital")[0].metadata["id"] == "1"


def test_a_folder_that_is_no_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="holds no index"):
        resolve_retriever(tmp_path)


@pytest.mark.parametrize("name", ["", "wikipeda", "no/such/folder", Path("nowhere")])
def test_an_unknown_name_is_answered_by_what_is_accepted(name: str | Path) -> None:
    with pytest.raises(SettingsError) as refused:
        resolve_retriever(name)
    message = str(refused.value)
    assert "\n" not in message
    for accepted in ("almanac", "wikipedia", "tavily", "google", "index", "LangChain retriever"):
        assert accepted in message


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("wikipedia", "wikipedia", "wikipedia"),
        ("tavily", "langchain_tavily", "langchain-tavily"),
        ("google", "langchain_google_community", "langchain-google-community"),
    ],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str, package: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)  # as if it were not installed
    with pytest.raises(SettingsError, match=f"pip install {package}$"):
        resolve_retriever(name)


def test_web_results_are_cut_to_k_and_an_empty_question_is_not_sent() -> None:
    asked: list[str] = []

    def find(query: str, k: int) -> list[Document]:
        asked.append(query)
        return [Document(page_content=str(number)) for number in range(10)]

    retriever = WebRetriever(find=find)
    assert [hit.page_content for hit in retriever.invoke("cats", k=2)] == ["0", "1"]
    assert retriever.invoke("  ") == []
    assert asked == ["cats"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNOWWHEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_cache_folder_can_be_chosen(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == cache
    monkeypatch.delenv("KNOWWHEN_CACHE")
    assert cache_folder().name == "knowwhen"


def test_a_cached_index_is_built_once_for_the_same_entries(cache: Path) -> None:
    for entries, folders in (([PARIS], 1), ([PARIS], 1), ([PARIS._replace(text="Other.")], 2)):
        assert cached_index("x", entries).invoke("Paris")
        assert len(list(cache.glob("x-*/manifest.json"))) == folders


def test_a_spoiled_cache_is_built_anew(cache: Path) -> None:
    cached_index("x", [PARIS])
    (manifest,) = cache.glob("x-*/manifest.json")
    manifest.write_text("rubbish")
    assert cached_index("x", [PARIS]).invoke("Paris")


def test_the_almanac_is_indexed_from_its_passages(cache: Path) -> None:
    retriever = resolve_retriever("almanac")
    wanted = list(corpus(default_world()))[100]
    (passage,) = as_passages(retriever.invoke(wanted.text, k=1))
    assert (passage["id"], passage["title"], passage["text"]) == (wanted.id, wanted.title, wanted.text)
    assert passage["source"] == "almanac"
