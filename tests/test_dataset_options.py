"""`--kind` and `--skip-bad` mean the same in every command that reads a dataset."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from knowwhen.cli import app

COMMANDS = [
    ["evaluate", "boundary"],
    ["train", "boundary"],
    ["train", "instructions", "--model", "pocket"],
    ["train", "reference", "--passages", "1"],
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """WebQuestions without their addresses, by which alone they are recognised, and one is no question."""
    records = [{"question": f"Who directed film {n}?", "answers": ["Velo Taray"]} for n in range(3)]
    records.insert(1, {"question": "Who?", "answers": []})
    path = tmp_path / "web.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_kind_is_given_and_bad_records_are_counted(
    command: list[str], dataset: Path, tmp_path: Path
) -> None:
    asked = [*command, "--dataset", str(dataset), "--kind", "webquestions", "--out", str(tmp_path / "out")]
    ended = CliRunner().invoke(app, [*asked, "--skip-bad"])
    assert ended.exit_code == 0, ended.output
    reason = "its answers is not a list of one text or more"
    assert f"bad records left out: 1; the first: {dataset}:2: {reason}\n" in ended.stderr
    _, *lines = (tmp_path / "out" / "journal.jsonl").read_text().splitlines()
    ids = sorted({json.loads(line)["question_id"].rpartition("/")[2] for line in lines})
    assert ids == ["webquestions-1", "webquestions-3", "webquestions-4"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--kind", "webquestions"], "web.jsonl:2: its answers is not a list of one text or more"),
        ([], "web.jsonl:1: with the fields question, answers it is of no kind that is recognised"),
        (["--kind", "web"], "no kind of dataset is called 'web'"),
    ],
)
def test_otherwise_it_is_recognised_and_the_first_bad_record_ends_it(
    command: list[str], given: list[str], said: str, dataset: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = CliRunner().invoke(app, [*command, "--dataset", str(dataset), "--out", str(out), *given])
    assert ended.exit_code == 1
    assert said in str(ended.exception)
    assert not out.exists()
