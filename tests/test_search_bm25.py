"""BM25: its formula, its analyzer, and questions that are anything but plain words."""

import math
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowwhen.models.errors import SettingsError
from knowwhen.tools import BM25Retriever, Entry, as_passages, build_index, open_index
from knowwhen.tools.analyzer import Analyzer

TEXTS = [
    ("Paris", "The capital of France lies on the Seine."),
    ("Seine", "The Seine runs through Paris, and Paris loves it."),
    ("Cats", "A cat purrs when it is content."),
    ("Tokyo", "The largest city of Japan: a capital!"),
]
ENTRIES = [Entry(str(number), title, text, "wiki") for number, (title, text) in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> BM25Retriever:
    folder = tmp_path_factory.mktemp("bm25") / "index"
    build_index(ENTRIES, folder)
    opened = open_index(folder)
    assert isinstance(opened, BM25Retriever)
    return opened


def found(retriever: BM25Retriever, query: str, k: int = 10) -> list[str]:
    return [hit.metadata["title"] for hit in retriever.invoke(query, k=k)]


def bm25(query: str, title_weight: int) -> dict[str, float]:
    """The textbook: k1 1.2, b .75, idf ln(1 + (N - n + .5) / (n + .5)), over the analyzed words."""
    analyzer = Analyzer(title_weight=title_weight)
    words = {title: analyzer.terms(analyzer.contents(title, text)) for title, text in TEXTS}
    average = sum(map(len, words.values())) / len(words)
    scores = dict.fromkeys(words, 0.0)
    for term in analyzer.terms(query):
        holding = sum(term in passage for passage in words.values())
        idf = math.log(1 + (len(words) - holding + 0.5) / (holding + 0.5))
        for title, passage in words.items():
            count = passage.count(term)
            norm = 1.2 * (1 - 0.75 + 0.75 * len(passage) / average)
            scores[title] += idf * count * 2.2 / (count + norm)
    return {title: score for title, score in scores.items() if score}


@pytest.mark.parametrize("title_weight", [0, 1, 2])
@pytest.mark.parametrize("query", ["the capital of Japan", "Paris", "cat cat cats Seine"])
def test_scores_are_the_textbooks(tmp_path: Path, query: str, title_weight: int) -> None:
    build_index(ENTRIES, tmp_path / "index", analyzer=Analyzer(title_weight=title_weight))
    hits = open_index(tmp_path / "index").invoke(query, k=10)
    scores = {hit.metadata["title"]: hit.metadata["score"] for hit in hits}
    assert scores == pytest.approx(bm25(query, title_weight), rel=1e-5)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


@pytest.mark.parametrize("query", ["contents", "CATS", "cat's", "Purr?"])
def test_a_question_is_stemmed_as_the_passages_were(retriever: BM25Retriever, query: str) -> None:
    assert found(retriever, query) == ["Cats"]


def test_a_title_weighs_double(retriever: BM25Retriever, tmp_path: Path) -> None:
    entries = [Entry("1", "Lyon", "Beside Nice.", ""), Entry("2", "Beside", "Nice Lyon.", "")]
    build_index(entries, tmp_path / "index")
    assert [hit.metadata["id"] for hit in open_index(tmp_path / "index").invoke("Lyon")] == ["1", "2"]


@pytest.mark.parametrize(
    "query",
    [
        '"capital of France"',
        '"capital',
        "+capital -France",
        "title:capital",
        "contents:capital AND (NOT",
        "capital~2 cap* [a TO z] capital^9",
        "{capital} OR \\",
        "capital && !France || /capital/",
    ],
)
def test_a_query_language_is_not_interpreted(retriever: BM25Retriever, query: str) -> None:
    assert set(found(retriever, query)) >= {"Paris", "Tokyo"}


@pytest.mark.parametrize("query", ["", "   ", "?!", "🙂", '"', "\0", "-"])
def test_a_question_without_words_finds_nothing(retriever: BM25Retriever, query: str) -> None:
    assert retriever.invoke(query) == []


def test_a_question_of_ten_thousand_words_is_answered(retriever: BM25Retriever) -> None:
    assert found(retriever, " ".join(f"word{number}" for number in range(10_000)) + " purrs") == ["Cats"]


def test_half_a_surrogate_pair_does_no_harm(retriever: BM25Retriever) -> None:
    assert found(retriever, "purrs \ud83d") == ["Cats"]


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters()), k=st.integers(1, 10**12))
def test_any_text_is_a_question(retriever: BM25Retriever, query: str, k: int) -> None:
    assert len(retriever.invoke(query, k=k)) <= len(ENTRIES)


def test_k_is_three_unless_the_field_or_the_call_says_otherwise(retriever: BM25Retriever) -> None:
    query = "paris cat capital"
    assert len(found(retriever, query, 10)) == 4
    assert len(retriever.invoke(query)) == 3
    assert len(retriever.invoke(query, k=1)) == 1
    assert len(retriever.model_copy(update={"k": 2}).invoke(query)) == 2


@pytest.mark.parametrize("k", [0, -1])
def test_a_k_below_one_is_refused(retriever: BM25Retriever, k: int) -> None:
    with pytest.raises(SettingsError, match="k is the number of passages to return, at least 1"):
        retriever.invoke("cat", k=k)


def test_many_threads_may_search_at_once(retriever: BM25Retriever) -> None:
    expected = found(retriever, "capital Seine")
    answers: list[list[str]] = []

    def search() -> None:
        answers.extend(found(retriever, "capital Seine") for _ in range(50))

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 400


def test_a_passage_without_an_english_word_is_found(tmp_path: Path) -> None:
    entries = [Entry("1", "Łódź", "Miasto w Polsce.", ""), Entry("2", "Köln", "Stadt am Rhein.", "")]
    build_index(entries, tmp_path / "index")
    assert as_passages(open_index(tmp_path / "index").invoke("łódź"))[0]["id"] == "1"
