"""The paragraphs of datasets as a corpus: which, once each, and under which ids."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_datasets_official import (
    BAMBOOGLE,
    FLASHRAG,
    HOTPOTQA,
    IIRC,
    MUSIQUE,
    NQ,
    NQ_ORACLE,
    SQUAD,
    TWO_WIKI,
)
from typer.testing import CliRunner

from knowwhen.cli import app
from knowwhen.evaluation.datasets import read_dataset
from knowwhen.evaluation.datasets.paragraphs import CORPUS_READERS
from knowwhen.models.errors import RetrievalError
from knowwhen.tools import BadEntries, Corpus, Entry, add_to_index, build_index, check_index


def corpus(file: Path, content: object, bad: BadEntries | None = None) -> list[Entry]:
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return list(Corpus([file], bad, CORPUS_READERS))


def brief(entries: list[Entry]) -> list[tuple[str, str]]:
    return [(entry.title, entry.text) for entry in entries]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("d.json", [HOTPOTQA], [("Ann", "Ann is Thai. She sings."), ("Cy", "Cy is."), ("Bo", "Bo. Thai.")]),
        ("d.json", [TWO_WIKI], [("Ann", "Ann is Thai. She sings.")]),
        ("d.jsonl", MUSIQUE, [("A", "Text of A."), ("B", "Text of B.")]),
        ("d.json", [IIRC], [("Zeus", "Zeus was a ship.")]),
        ("d.jsonl", NQ_ORACLE, [("Song", "Ann sang it.")]),
        ("d.json", {"version": "v2.0", "data": [SQUAD]}, [("Super Bowl", "Denver won.")]),
        ("d.jsonl", FLASHRAG, [("A", "a"), ("B", "b b"), ("C", "c")]),
    ],
)
def test_every_dataset_with_paragraphs_is_a_corpus(
    tmp_path: Path, name: str, content: object, expected: list[tuple[str, str]]
) -> None:
    file = tmp_path / name
    entries = corpus(file, content)
    assert brief(entries) == expected
    assert {entry.source for entry in entries} == {str(file)}
    gold = [each for question in read_dataset(file) for each in question.metadata["supporting"]]
    assert set(gold) <= {entry.id for entry in entries}


def test_strategyqas_paragraphs_keep_their_ids(tmp_path: Path) -> None:
    paragraphs = {
        f"Albany-{number}": {
            "title": "Albany",
            "section": "",
            "para_index": number,
            "content": f"Text {number}.",
        }
        for number in (1, 35)
    }
    entries = corpus(tmp_path / "p.json", paragraphs)
    assert [entry.id for entry in entries] == ["Albany-1", "Albany-35"]
    assert brief(entries) == [("Albany", "Text 1."), ("Albany", "Text 35.")]


PAGE = """<h2>Career</h2>
He sailed with <a href="Ship">the ship</a> &amp; with many others for more than ten years.
<b>See also</b>
<p>The crew was paid by the king, who had ordered the ship in 1790.</p>"""


def test_the_articles_that_iirc_links_to_are_a_corpus(tmp_path: Path) -> None:
    file = tmp_path / "context_articles.json"
    entries = corpus(file, {"ann lee": PAGE, "stub": "It is one."})
    assert brief(entries) == [
        ("ann lee", "He sailed with the ship & with many others for more than ten years."),
        ("ann lee", "The crew was paid by the king, who had ordered the ship in 1790."),
    ]
    assert len({entry.id for entry in entries}) == 2
    build_index(corpus(file, {"ann lee": PAGE, "again": PAGE}), tmp_path / "index")
    assert check_index(tmp_path / "index").passages == 4
    with pytest.raises(RetrievalError, match="article 2: it is no text under a title"):
        corpus(file, {"ann lee": PAGE, "bo": {"text": PAGE}})
    bad = BadEntries(skip=True)
    assert len(corpus(file, {"bo": 1, "ann lee": PAGE}, bad)) == 2
    assert bad.count == 1
    with pytest.raises(RetrievalError, match=r"context_articles.json is no JSON object .* from member 2 on"):
        corpus(file, '{"ann lee": "' + PAGE.replace('"', "").replace("\n", " ") + '", "bo": ')


def test_lines_with_text_are_a_corpus_as_before(tmp_path: Path) -> None:
    for line in ({"id": "7", "title": "Paris", "text": "A city."}, {"id": "7", "contents": "Paris\nA city."}):
        (entry,) = corpus(tmp_path / "c.jsonl", {**line, "question": "Who?", "answer": ["x"]})
        assert (entry.id, entry.title, entry.text, entry.repeats) == ("7", "Paris", "A city.", False)


def test_a_paragraph_of_several_questions_is_stored_once_in_a_build_and_when_adding(tmp_path: Path) -> None:
    again: dict[str, Any] = {**HOTPOTQA, "_id": "2", "context": [*HOTPOTQA["context"], ["New", ["new"]]]}  # type: ignore[misc]
    train, dev, index = tmp_path / "train.json", tmp_path / "dev.json", tmp_path / "index"
    train.write_text(json.dumps([HOTPOTQA, {**HOTPOTQA, "_id": "1"}]))
    dev.write_text(json.dumps([again]))
    assert build_index(Corpus([train, train], None, CORPUS_READERS), index).passages == 3
    assert add_to_index(Corpus([dev], None, CORPUS_READERS), index).passages == 4
    assert check_index(index).passages == 4
    ids = [entry.id for entry in Corpus([train, dev], None, CORPUS_READERS)]
    assert len(ids) == 10
    assert len(set(ids)) == 4


def test_two_entries_of_an_ordinary_corpus_may_still_not_share_an_id(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "7", "text": "one"}\n{"id": "7", "text": "two"}\n')
    with pytest.raises(RetrievalError, match="the id '7' is already taken"):
        build_index(Corpus([tmp_path / "c.jsonl"], None, CORPUS_READERS), tmp_path / "index")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("d.json", [BAMBOOGLE], "carries no paragraphs"),
        ("d.jsonl", NQ, "carries no paragraphs"),
        ("d.json", [], "carries no paragraphs"),
        ("d.json", [{"x": 1}], "record 1: this is a record of no known dataset"),
        ("d.json", "[", "is no JSON in UTF-8 from record 1 on"),
        ("d.jsonl", {"x": 1}, ":1: it has no text"),
        ("d.json", [HOTPOTQA, {**HOTPOTQA, "context": 3}], "record 2: its context is not a list"),
        ("d.json", [{**HOTPOTQA, "context": [["A", ["  "]]]}], "record 1: its paragraph 'A' has no text"),
    ],
)
def test_what_has_no_paragraphs_is_refused_in_one_line(
    tmp_path: Path, name: str, content: object, reason: str
) -> None:
    with pytest.raises(RetrievalError) as refused:
        corpus(tmp_path / name, content)
    assert str(refused.value).startswith(f"{tmp_path / name}")
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_records_without_sound_paragraphs_can_be_left_out_and_are_counted(tmp_path: Path) -> None:
    bad = BadEntries(skip=True)
    entries = corpus(tmp_path / "d.json", [HOTPOTQA, {**HOTPOTQA, "context": 3}, 7], bad)
    assert len(entries) == 3
    assert bad.count == 2


def test_a_folder_is_searched_for_corpora_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"x": 1}')
    (tmp_path / "c.jsonl").write_text('{"text": "one"}')
    assert [entry.text for entry in Corpus([tmp_path], None, CORPUS_READERS)] == ["one"]
    with pytest.raises(RetrievalError, match="is of no kind that can be indexed"):
        Corpus([tmp_path / "notes.json"])


def test_the_command_builds_an_index_of_a_dataset_and_adds_to_it(tmp_path: Path) -> None:
    data, index = tmp_path / "dev.json", str(tmp_path / "index")
    data.write_text(json.dumps([HOTPOTQA]))
    built = CliRunner().invoke(app, ["index", "build", str(data), "--out", index])
    assert built.exit_code == 0, built.output
    assert ": 3 passages, bm25" in built.stdout
    added = CliRunner().invoke(app, ["index", "add", str(data), "--corpus", index])
    assert added.exit_code == 0, added.output
    assert ": 3 passages, bm25" in added.stdout
