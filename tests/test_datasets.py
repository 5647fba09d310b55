"""Questions from files and from the almanac, and what is drawn of them."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from knowwhen.almanac import SPLITS, default_world, write_files
from knowwhen.evaluation.datasets import GoldQuestion, almanac_questions, drawn, read_dataset
from knowwhen.models.errors import KnowwhenError, SettingsError

LINE = {"id": "test_0", "question": "Who?", "golden_answers": ["Bo", "B."], "metadata": {"level": "easy"}}


def test_a_line_of_flashrag_is_a_question(tmp_path: Path) -> None:
    file = tmp_path / "nq.jsonl"
    bare = {"id": 7, "question": "Où ?", "golden_answers": ["ici"]}
    lines = [json.dumps(LINE), "", json.dumps(bare, ensure_ascii=False)]
    file.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    assert list(read_dataset(file)) == [
        GoldQuestion("test_0", "Who?", ("Bo", "B."), {"level": "easy"}),
        GoldQuestion("7", "Où ?", ("ici",), {}),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": "a", "question"', "this is no JSON in UTF-8"),
        (b'{"id": "\xff"}', "this is no JSON in UTF-8"),
        (b"[" * 100_000, "this is no JSON in UTF-8"),
        (b'["a"]', "this is not a JSON object"),
        (b'{"question": "Who?", "golden_answers": ["a"]}', "its id is neither text nor a number"),
        (b'{"id": true, "question": "Who?", "golden_answers": ["a"]}', "its id is neither text nor a number"),
        (b'{"id": "a", "question": " ", "golden_answers": ["a"]}', "it has no question"),
        (b'{"id": "a", "question": "\\ud800", "golden_answers": ["a"]}', "it has no question"),
        (b'{"id": "a", "question": "Who?", "golden_answers": []}', "its golden_answers is not a list of"),
        (b'{"id": "a", "question": "Who?", "golden_answers": "a"}', "its golden_answers is not a list of"),
        (b'{"id": "a", "question": "Who?", "golden_answers": [3]}', "its golden_answers is not a list of"),
        (
            b'{"id": "a", "question": "Who?", "golden_answers": ["a"], "metadata": "x"}',
            "its metadata is not a JSON object",
        ),
    ],
)
def test_a_bad_line_is_named_with_its_number_and_what_is_wrong(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    file = tmp_path / "d.jsonl"
    file.write_bytes(json.dumps(LINE).encode() + b"\n" + line + b"\n")
    reading = read_dataset(file)
    assert next(reading).id == "test_0"  # which is read before the bad line is
    with pytest.raises(KnowwhenError) as refused:
        next(reading)
    assert str(refused.value).startswith(f"{file}:2: {reason}")
    assert str(refused.value).endswith("; mend the record")
    assert "\n" not in str(refused.value)


def test_a_dataset_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError,
        match="no dataset is called 'nq'; give a file, hf:owner/name:split, or one of almanac, almanac:tr",
    ):
        read_dataset("nq")
    with pytest.raises(SettingsError, match="no dataset is called"):
        read_dataset(tmp_path)


def test_the_almanac_is_the_train_split_as_its_files_have_it(tmp_path: Path) -> None:
    write_files(default_world(), tmp_path)
    named, read = list(read_dataset("almanac")), list(read_dataset(tmp_path / "questions-train.jsonl"))
    assert [(each.id, each.question, each.golden_answers) for each in named] == [
        (each.id, each.question, each.golden_answers) for each in read
    ]
    for one, other in zip(named, read, strict=True):
        assert one.metadata.items() <= other.metadata.items()
    tested = {each.question for each in almanac_questions(default_world(), "test")}
    assert len(tested) > 1000
    assert not tested & {each.question for each in named}


def test_each_split_of_the_almanac_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split in SPLITS:
        asked = list(read_dataset(f"almanac:{split}"))
        assert asked == list(almanac_questions(default_world(), split))
        assert asked[0].id == f"almanac-7-{split}-0"
    assert next(read_dataset("almanac")) == next(read_dataset("almanac:train"))
    monkeypatch.chdir(tmp_path)
    for name in ("almanac:", "almanac:dev", "./almanac:test"):
        with pytest.raises(SettingsError, match="no dataset is called"):
            read_dataset(name)
    Path("almanac:test").write_text(json.dumps(LINE))
    assert [each.id for each in read_dataset("./almanac:test")] == ["test_0"]


def questions(count: int) -> list[GoldQuestion]:
    return [GoldQuestion(f"q{number}", "Who?", ("a",)) for number in range(count)]


def test_a_draw_is_even_ordered_and_part_of_every_larger_one() -> None:
    asked = questions(1000)
    draws = [drawn(asked, limit, seed=3) for limit in (1, 10, 100, 5000)]
    for smaller, larger in pairwise(draws):
        assert set(smaller) <= set(larger)
    assert [len(each) for each in draws] == [1, 10, 100, 1000]
    assert draws[2] == sorted(draws[2], key=asked.index)
    assert draws[3] == asked
    first_half = sum(asked.index(each) < 500 for each in draws[2])
    assert 30 <= first_half <= 70
    assert drawn(iter(asked), 100, seed=3) == draws[2]
    assert drawn(asked, 100, seed=4) != draws[2]


def test_two_questions_with_one_id_are_refused() -> None:
    with pytest.raises(KnowwhenError, match="questions 3 and 6 both have the id 'q2'; give each its own"):
        drawn([*questions(5), questions(3)[2]], 10, seed=0)
