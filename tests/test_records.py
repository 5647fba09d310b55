"""Records: what is read, and what is refused with its line and reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from knowwhen.evaluation.calibration.records import (
    Asked,
    Attempt,
    Combined,
    Record,
    Samples,
    read_records,
    write_records,
)
from knowwhen.models.errors import KnowwhenError

PART = Asked(question="p", closed_book=Attempt(answer="c"), open_book=(Attempt(answer="o"),))
WHOLE = Record(
    id="1",
    question="q",
    golden_answers=("a", "b"),
    closed_book=Attempt(answer="a", scores={"probability": 0.5, "gram": None}, tokens=3),
    open_book=(Attempt(answer="b"), Attempt(answer="ä")),
    retrievals=2,
    gate_tokens=5,
    split_tokens=6,
    samples=Samples(answers=("x", "y"), clusters=(0, None), tokens=7),
    parts=(PART, PART),
    combined=(Combined(answer="d", of=("c", "o")), Combined(answer="e")),
    metadata={"hops": 2},
)
LEAST: dict[str, Any] = {
    "id": "2",
    "question": "q",
    "golden_answers": ["a"],
    "closed_book": {"answer": "a"},
    "open_book": [{"answer": "b"}],
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    records = [WHOLE, Record.model_validate(LEAST)]
    assert write_records(iter(records), tmp_path / "r.jsonl") == 2
    assert list(read_records(tmp_path / "r.jsonl")) == records


def test_little_must_be_given_and_empty_lines_and_a_byte_order_mark_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("\ufeff" + json.dumps(LEAST) + "\n\n", encoding="utf-8")
    (record,) = read_records(tmp_path / "r.jsonl")
    assert (record.retrievals, record.parts, record.samples) == (1, (), None)


def test_records_are_read_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(LEAST) + "\n{\n")
    records = read_records(tmp_path / "r.jsonl")
    assert next(records).id == "2"
    with pytest.raises(KnowwhenError, match=r"r\.jsonl:2: this is no record"):
        next(records)


def with_(**changed: Any) -> dict[str, Any]:
    return {name: value for name, value in (LEAST | changed).items() if value is not ...}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "EOF"),
        (b"\xff", ""),
        (with_(id=...), "id: Field required"),
        (with_(golden_answers=[]), "golden_answers: "),
        (with_(open_book=[]), "open_book: "),
        (with_(closed_book={"answer": "a", "scores": {"gram": "low"}}), "closed_book.scores.gram"),
        (with_(closed_book={"answer": "a", "tokens": -1}), "closed_book.tokens"),
        (with_(sub_questions=[]), "sub_questions: Extra"),
        (with_(parts=[LEAST]), "parts.0.id: Extra"),
        (with_(parts=[PART.model_dump()]), "parts and combined go together"),
        (with_(combined=[{"answer": "x"}]), "parts and combined go together"),
        (
            with_(parts=[PART.model_dump()], combined=[{"answer": "x", "of": ["a", "b"]}]),
            "a combined answer is not of 1 parts",
        ),
        (with_(samples={"answers": ["x"], "clusters": [0, 1]}), "samples: 1 answers lie in 2 clusters"),
    ],
)
def test_a_damaged_line_is_refused_with_its_number_and_why(tmp_path: Path, line: Any, words: str) -> None:
    bad = line if isinstance(line, bytes) else json.dumps(line).encode()
    (tmp_path / "r.jsonl").write_bytes(json.dumps(with_(id="9")).encode() + b"\n" + bad + b"\n")
    with pytest.raises(KnowwhenError) as refused:
        list(read_records(tmp_path / "r.jsonl"))
    assert str(refused.value).startswith(f"{tmp_path / 'r.jsonl'}:2: this is no record")
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_an_id_twice_no_record_and_no_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    for content, words in (
        (f"{json.dumps(LEAST)}\n" * 2, "r.jsonl:2: the id '2' is line 1's"),
        ("\n", "no record"),
    ):
        file.write_text(content)
        with pytest.raises(KnowwhenError, match=words):
            list(read_records(file))
    with pytest.raises(KnowwhenError, match=r"none\.jsonl cannot be read"):
        list(read_records(tmp_path / "none.jsonl"))
    with pytest.raises(KnowwhenError, match="could not be written"):
        write_records([WHOLE], tmp_path)
