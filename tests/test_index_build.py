"""Building an index and adding to it."""

import json
import stat
from pathlib import Path

import pytest

from knowwhen.models.errors import RetrievalError
from knowwhen.tools import BadEntries, Entry, add_to_index, build_index, check_index, open_index
from knowwhen.tools.manifest import read_manifest

PARIS = Entry("1", "Paris", "The capital of France lies on the Seine.", "wiki", "a.jsonl", 1)
CATS = Entry("2", "Cats", "A cat purrs when it is content.", "wiki", "a.jsonl", 2)
TOKYO = Entry("3", "Tokyo", "The largest city of Japan.", "wiki", "b.jsonl", 1)


def titles(folder: Path, query: str) -> list[str]:
    return [hit.metadata["title"] for hit in open_index(folder).invoke(query)]


def test_what_was_built_is_found_with_everything_it_had(tmp_path: Path) -> None:
    build_index([PARIS, CATS], tmp_path / "index")
    (hit,) = open_index(tmp_path / "index").invoke("Which capital is on the Seine?", k=1)
    assert hit.page_content == PARIS.text
    assert hit.metadata == {"id": "1", "title": "Paris", "source": "wiki", "score": hit.metadata["score"]}
    assert hit.metadata["score"] > 0


def test_the_manifest_says_what_the_index_holds(tmp_path: Path) -> None:
    build_index([PARIS, CATS, TOKYO], tmp_path / "index")
    record = json.loads((tmp_path / "index" / "manifest.json").read_text())
    assert (record["kind"], record["passages"]) == ("bm25", 3)
    assert record["sources"] == {"a.jsonl": 2, "b.jsonl": 1}
    assert record["analyzer"] == {
        "tokenizer": "simple",
        "lowercase": True,
        "stemmer": "english",
        "stop_words": "none",
        "title_weight": 2,
    }
    on_disk = [file for file in (tmp_path / "index" / record["generation"]).rglob("*") if file.is_file()]
    assert len(record["files"]) == sum(file.suffix != ".lock" for file in on_disk)


def test_building_again_replaces_the_index(tmp_path: Path) -> None:
    build_index([PARIS], tmp_path / "index")
    build_index([CATS], tmp_path / "index")
    assert titles(tmp_path / "index", "capital cat") == ["Cats"]
    assert len(list((tmp_path / "index").glob("generation-*"))) == 1


def test_added_passages_are_found_beside_the_old_ones(tmp_path: Path) -> None:
    build_index([PARIS, CATS], tmp_path / "index")
    manifest = add_to_index([TOKYO], tmp_path / "index")
    assert (manifest.passages, manifest.sources) == (3, {"a.jsonl": 2, "b.jsonl": 1})
    assert sorted(titles(tmp_path / "index", "cat Japan capital")) == ["Cats", "Paris", "Tokyo"]
    check_index(tmp_path / "index")


def test_an_open_index_answers_on_while_it_is_replaced(tmp_path: Path) -> None:
    build_index([PARIS], tmp_path / "index")
    old = open_index(tmp_path / "index")
    add_to_index([CATS], tmp_path / "index")
    build_index([TOKYO], tmp_path / "index")
    assert [hit.metadata["title"] for hit in old.invoke("capital cat city")] == ["Paris"]


@pytest.mark.parametrize("within", ["one build", "an addition", "the index"])
def test_an_id_that_is_taken_is_refused_by_file_and_line(tmp_path: Path, within: str) -> None:
    again = Entry("2", "Dogs", "A dog barks.", "wiki", "b.jsonl", 7)
    message = r"^b.jsonl:7: the id '2' is already taken; mend it, .*--skip-bad$"
    if within == "one build":
        with pytest.raises(RetrievalError, match=message):
            build_index([PARIS, CATS, again], tmp_path / "index")
        return
    build_index([PARIS] if within == "an addition" else [PARIS, CATS], tmp_path / "index")
    with pytest.raises(RetrievalError, match=message):
        add_to_index([CATS, again] if within == "an addition" else [again], tmp_path / "index")
    assert "Dogs" not in titles(tmp_path / "index", "dog cat capital")


def test_of_passages_with_one_id_the_first_is_kept_when_bad_entries_are_skipped(tmp_path: Path) -> None:
    bad = BadEntries(skip=True)
    build_index([CATS, TOKYO._replace(id="2"), PARIS], tmp_path / "index", bad=bad)
    assert sorted(titles(tmp_path / "index", "cat city capital")) == ["Cats", "Paris"]
    assert bad.count == 1


def test_a_corpus_without_passages_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="there is no passage to index"):
        build_index([], tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_a_folder_of_something_else_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RetrievalError, match="is not an index of knowwhen; choose another folder"):
        build_index([PARIS], tmp_path)
    with pytest.raises(RetrievalError, match="is not an index of knowwhen"):
        build_index([PARIS], tmp_path / "thesis.tex")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_adding_to_what_is_no_index_is_refused_and_leaves_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="holds no index"):
        add_to_index([PARIS], tmp_path)
    assert not any(tmp_path.iterdir())


def test_the_same_corpus_gives_the_same_ranking(tmp_path: Path) -> None:
    entries = [Entry(str(number), "Twin", "All of these are alike.", "") for number in range(50)]
    for name in ("one", "two"):
        build_index(entries, tmp_path / name)
    first, second = (
        [hit.metadata["id"] for hit in open_index(tmp_path / name).invoke("alike", k=20)]
        for name in ("one", "two")
    )
    assert first == second == [str(number) for number in range(20)]


def test_files_of_an_index_can_be_read_by_whoever_may_read_the_folder(tmp_path: Path) -> None:
    build_index([PARIS], tmp_path / "index")
    folder = tmp_path / "index" / read_manifest(tmp_path / "index").generation / "passages"
    modes = {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == {stat.S_IMODE(folder.stat().st_mode) & 0o666}
