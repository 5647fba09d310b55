"""`knowwhen almanac` in a shell: a folder to search and to ask from."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from knowwhen.almanac import default_world
from knowwhen.tools import check_index, open_index

KNOWWHEN = [sys.executable, "-c", "from knowwhen.cli import main; main()"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KNOWWHEN, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shell") / "almanac"


@pytest.fixture(scope="module")
def ended(folder: Path) -> subprocess.CompletedProcess[str]:
    return run("almanac", "--out", str(folder), "--json")


def test_it_writes_corpus_questions_and_index(folder: Path, ended: subprocess.CompletedProcess[str]) -> None:
    assert ended.returncode == 0, ended.stderr
    questions = [f"questions-{split}.jsonl" for split in ("calibration", "test", "train")]
    assert sorted(path.name for path in folder.iterdir()) == ["corpus.jsonl", "index", *questions]
    manifest = check_index(folder / "index")
    assert manifest.passages == len((folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines())


def test_json_on_stdout_says_what_the_files_hold_and_the_table_is_on_stderr(
    folder: Path, ended: subprocess.CompletedProcess[str]
) -> None:
    told = json.loads(ended.stdout)
    assert (told["almanac"], told["seed"]) == (str(folder), 7)
    assert sum(told["passages"].values()) == 854
    for split, kinds in told["questions"].items():
        lines = (folder / f"questions-{split}.jsonl").read_text(encoding="utf-8").splitlines()
        assert sum(sum(each.values()) for each in kinds.values()) == len(lines)
    assert "380 / 220 / 0" in ended.stderr
    assert all(kind in ended.stderr for kind in told["questions"]["train"])


def test_its_index_finds_the_passages_that_support_its_questions(
    folder: Path, ended: subprocess.CompletedProcess[str]
) -> None:
    retriever = open_index(folder / "index")
    lines = (folder / "questions-test.jsonl").read_text(encoding="utf-8").splitlines()
    records = [record for line in lines if (record := json.loads(line))["metadata"]["hops"] == 1]
    found = [
        set(record["metadata"]["supporting"])
        <= {hit.metadata["id"] for hit in retriever.invoke(record["question"], k=5)}
        for record in records
    ]
    assert sum(found) / len(found) >= 0.95


def test_search_reads_what_it_wrote(folder: Path, ended: subprocess.CompletedProcess[str]) -> None:
    film = default_world().of_kind("film")[0]
    searched = run("search", f"Who directed {film.name}?", "--corpus", str(folder / "index"), "--json")
    passages = json.loads(searched.stdout)["passages"]
    assert film.name in {passage["title"] for passage in passages}


def test_another_seed_writes_another_world_over_a_copy_of_the_first(
    tmp_path: Path, folder: Path, ended: subprocess.CompletedProcess[str]
) -> None:
    other = shutil.copytree(folder, tmp_path / "almanac")
    assert run("almanac", "--out", str(other), "--seed", "2").returncode == 0
    lines = (other / "questions-test.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["metadata"]["seed"] for line in lines} == {2}
    for line in (other / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:20]:
        passage = json.loads(line)
        found = open_index(other / "index").invoke(passage["text"], k=1)[0]
        assert found.page_content == passage["text"]


def test_a_foreign_folder_is_refused_in_one_line_and_status_1(tmp_path: Path) -> None:
    (tmp_path / "thesis.md").write_text("years of work")
    refused = run("almanac", "--out", str(tmp_path))
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr == (
        f"knowwhen: {tmp_path} holds thesis.md, which is no almanac's; choose an empty folder\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.md"]


@pytest.mark.parametrize("wrong", [["--seed", "seven"], ["--out"], []])
def test_wrong_use_is_status_2(tmp_path: Path, wrong: list[str]) -> None:
    out = [] if wrong != ["--seed", "seven"] else ["--out", str(tmp_path / "x")]
    assert run("almanac", *out, *wrong).returncode == 2
    assert list(tmp_path.iterdir()) == []
