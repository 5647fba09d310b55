"""`hf:` names, through the library `datasets`, on files that it wrote itself and without a network."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from knowwhen.evaluation.datasets import Skipped, read_dataset
from knowwhen.models.errors import KnowwhenError, SettingsError

datasets = pytest.importorskip("datasets")

ROWS = [
    {
        "id": f"q{number}",
        "question": "Who?",
        "answer": "Bo",
        "type": "bridge",
        "level": "hard",
        "supporting_facts": {"title": ["B"], "sent_id": [0]},
        "context": {"title": ["A", "B"], "sentences": [["a.", " b."], ["c."]]},
    }
    for number in range(3)
]


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library keeps what it fetches and unpacks out of the user's cache."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(name: str, **given: Any) -> list[str]:
    return [each.id for each in read_dataset(name, **given)]


def test_a_saved_dataset_is_read_as_the_hub_has_its_rows(own_folder: Path) -> None:
    datasets.Dataset.from_list(ROWS).save_to_disk("saved")
    questions = list(read_dataset("hf:saved"))
    assert [each.id for each in questions] == ["q0", "q1", "q2"]
    assert questions[0].golden_answers == ("Bo",)
    assert questions[0].metadata["kind"] == "bridge"
    assert questions[0].metadata["supporting_facts"] == [["B", 0]]
    assert len(questions[0].metadata["supporting"]) == 1
    assert read("hf:./saved") == read(f"hf:{own_folder}/saved") == ["q0", "q1", "q2"]


def test_of_several_splits_one_must_be_given(own_folder: Path) -> None:
    parts = {"train": datasets.Dataset.from_list(ROWS[:2]), "dev": datasets.Dataset.from_list(ROWS[2:])}
    datasets.DatasetDict(parts).save_to_disk("saved")
    assert read("hf:saved:train") == ["q0", "q1"]
    assert read("hf:saved:dev") == ["q2"]
    with pytest.raises(SettingsError, match="hf:saved has the splits train, dev; give one: hf:saved:train"):
        read_dataset("hf:saved")
    with pytest.raises(SettingsError, match="hf:saved:test has no split 'test'; give one of train, dev"):
        read_dataset("hf:saved:test")


def test_files_are_read_by_the_library_too(own_folder: Path) -> None:
    lines = [{"id": str(number), "question": "Who?", "golden_answers": ["Bo"]} for number in range(2)]
    (own_folder / "parts").mkdir()
    for file in ("d.jsonl", "parts/test.jsonl"):
        (own_folder / file).write_text("\n".join(map(json.dumps, lines)))
    datasets.Dataset.from_list(ROWS).to_parquet("d.parquet")
    assert read("hf:d.jsonl") == read("hf:d.jsonl:train") == ["0", "1"]
    assert read("hf:d.parquet") == ["q0", "q1", "q2"]
    assert read("hf:parts:test") == ["0", "1"]


def test_a_bad_row_is_named_and_may_be_left_out(own_folder: Path) -> None:
    datasets.Dataset.from_list([ROWS[0], {**ROWS[1], "answer": ""}, ROWS[2]]).save_to_disk("saved")
    with pytest.raises(KnowwhenError, match=r"^hf:saved, row 2: it has no answer; mend the record$"):
        read("hf:saved")
    skipped = Skipped()
    assert read("hf:saved", skipped=skipped) == ["q0", "q2"]
    assert skipped.first == ["hf:saved, row 2: it has no answer"]


@pytest.mark.parametrize(
    "name", ["hf:nobody/nothing:test", "hf:nobody/nothing/config", "hf:../..:x", "hf:a b/c"]
)
def test_what_cannot_be_loaded_is_one_line(own_folder: Path, name: str) -> None:
    with pytest.raises(KnowwhenError, match=f"^{name} cannot be loaded: .*; give hf:owner/name") as refused:
        read_dataset(name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["hf:", "hf:///", "hf::test"])
def test_a_name_that_names_nothing_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} names no dataset; give hf:owner/name"):
        read_dataset(name)


def test_a_file_that_breaks_off_is_one_line(own_folder: Path) -> None:
    line = json.dumps({"id": "1", "question": "Who?", "golden_answers": ["Bo"]})
    (own_folder / "d.jsonl").write_text(f"{line}\n{line[:20]}")
    with pytest.raises(KnowwhenError, match=r"^hf:d.jsonl cannot be (read behind row|loaded)") as refused:
        read("hf:d.jsonl")
    assert "\n" not in str(refused.value)


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(KnowwhenError, match=r"^hf:a/b is read by .* pip install 'knowwhen\[hub\]'$"):
        read_dataset("hf:a/b")
