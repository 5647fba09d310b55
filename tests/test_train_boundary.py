"""What a model is taught to say and to decline: by script what it answers, and by the pocket model."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import started
from scripted import ScriptedChat
from typer.testing import CliRunner

from knowwhen.cli import app, main
from knowwhen.evaluation.datasets import read_dataset
from knowwhen.evaluation.metrics import exact_match
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.pocket import pocket
from knowwhen.nodes import answer_directly, confident_qa
from knowwhen.training.boundary import BoundarySummary, build_boundary
from knowwhen.training.turns import Turn, read_turns, write_turns

KNOWWHEN = [sys.executable, "-c", "from knowwhen.cli import app, main; main()"]


def write_dataset(path: Path, count: int, hops: int | None = None) -> Path:
    records = [
        {
            "id": f"q{number}",
            "question": f"Who directed film {number}?",
            "golden_answers": ["Velo Taray", "Taray"],
            **({} if hops is None else {"metadata": {"hops": hops}}),
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def even(prompt: str) -> str:
    """Knows the films of even numbers, and writes their director in its own way."""
    number = int(prompt.split("film ")[1].split("?")[0])
    return " the Velo Taray.\n" if number % 2 == 0 else "Velo Taray Olan"


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "d.jsonl", 6)


def build(dataset: Path | str, out: Path, model: Any = None, **given: Any) -> BoundarySummary:
    return build_boundary(dataset, out, **{"model": model or ScriptedChat(even), **given})


def test_right_answers_are_to_be_given_again_and_wrong_ones_declined(dataset: Path, tmp_path: Path) -> None:
    model = ScriptedChat(even)
    summary = build(dataset, tmp_path / "b", model)
    questions = [f"Who directed film {number}?" for number in range(6)]
    assert sorted(model.prompts) == [answer_directly.PROMPT.format(question=each) for each in questions]
    assert {call["temperature"] for call in model.calls} == {0.0}
    files = {file.name for file in (tmp_path / "b").iterdir()}
    assert files == {"boundary.jsonl", "journal.jsonl", "journal.lock"}
    rows = [json.loads(line) for line in (tmp_path / "b" / "boundary.jsonl").read_text().splitlines()]
    assert [row["messages"] for row in rows] == [
        [
            {"role": "user", "content": confident_qa.PROMPT.format(question=question)},
            {"role": "assistant", "content": "RAG_REQUIRED" if number % 2 else "the Velo Taray."},
        ]
        for number, question in enumerate(questions)
    ]
    assert [(row["id"], row["kind"]) for row in rows[:2]] == [
        ("q0", "confident knowledge"),
        ("q1", "knowledge gap"),
    ]
    words = len(confident_qa.PROMPT.format(question=questions[0]).split())
    assert summary.unit == "words"
    assert (summary.all.number, summary.all.input_length, summary.all.output_length) == (6, words, 2.0)
    assert (summary.confident_knowledge.number, summary.confident_knowledge.output_length) == (3, 3.0)
    assert (summary.knowledge_gap.number, summary.knowledge_gap.output_length) == (3, 1.0)
    assert (summary.left_out, summary.model_calls, summary.failed) == (0, 6, 0)


def test_questions_of_several_facts_are_left_out_before_the_draw(tmp_path: Path) -> None:
    summary = build("almanac:train", tmp_path / "b", ScriptedChat(lambda prompt: "nobody"), limit=40)
    asked = {question.id: question for question in read_dataset("almanac:train")}
    kept = read_turns(tmp_path / "b")
    assert len(kept) == 40
    assert {asked[turn.question_id].metadata["hops"] for turn in kept} == {1}
    assert summary.left_out == sum(question.metadata["hops"] > 1 for question in asked.values()) > 500
    with pytest.raises(KnowwhenError, match="holds no single-fact question; give a dataset that does"):
        build(write_dataset(tmp_path / "d.jsonl", 3, hops=2), tmp_path / "c")
    assert build(write_dataset(tmp_path / "e.jsonl", 3, hops=1), tmp_path / "e").left_out == 0


def test_what_is_finished_is_not_asked_again_and_a_failure_is(dataset: Path, tmp_path: Path) -> None:
    broken = ScriptedChat(lambda prompt: ValueError("refused") if "film 3" in prompt else even(prompt))
    first = build(dataset, tmp_path / "b", broken)
    assert (first.all.number, first.failed) == (5, 1)
    assert first.first_failure.startswith("q3: ScriptedChat failed")
    again = ScriptedChat(even)
    build(dataset, tmp_path / "b", again)
    assert len(again.prompts) == 1 and "film 3" in again.prompts[0]
    build(dataset, tmp_path / "whole")
    assert (tmp_path / "b" / "boundary.jsonl").read_bytes() == (
        tmp_path / "whole" / "boundary.jsonl"
    ).read_bytes()


def test_another_models_answers_are_not_mixed_in(dataset: Path, tmp_path: Path) -> None:
    build(dataset, tmp_path / "b")
    with pytest.raises(SettingsError, match="begun with model 'ScriptedChat', which is now 'pocket'"):
        build(dataset, tmp_path / "b", "pocket")
    with pytest.raises(SettingsError, match="limit must be at least 1"):
        build(dataset, tmp_path / "b", limit=0)


def test_a_model_that_was_tuned_since_is_another_one(tmp_path: Path) -> None:
    dataset, copy = (
        write_dataset(tmp_path / "d.jsonl", 1),
        Path(shutil.copytree(pocket().path, tmp_path / "m")),
    )
    model = f"transformers:{copy}"
    build(dataset, tmp_path / "b", model)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    with pytest.raises(SettingsError, match="was begun with weights '"):
        build(dataset, tmp_path / "b", model)


# Each answer takes 20 ms.
CHILD = """
import signal, sys
from pathlib import Path
from test_train_boundary import *

LIMIT
build(Path(sys.argv[1]), Path(sys.argv[2]), ScriptedChat(even, delay=0.02))
"""


def child(limit: str = "") -> list[str]:
    here = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})"
    return [sys.executable, "-c", here + CHILD.replace("LIMIT", limit)]


def test_killed_in_the_middle_it_goes_on_to_the_same_set(tmp_path: Path) -> None:
    dataset, out = write_dataset(tmp_path / "d.jsonl", 400), tmp_path / "b"
    journal = out / "journal.jsonl"
    with started(
        [*child(), str(dataset), str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 20:
            assert process.poll() is None, process.communicate()
        with pytest.raises(KnowwhenError, match="is in use by another process; wait for it to end"):
            build(dataset, out)
        process.send_signal(signal.SIGKILL)
    assert not (out / "boundary.jsonl").exists()
    finished = journal.read_bytes().count(b"\n") - 1
    assert 19 <= finished < 400
    model = ScriptedChat(even)
    build(dataset, out, model)
    assert len(model.prompts) == 400 - finished
    build(dataset, tmp_path / "whole")
    assert (out / "boundary.jsonl").read_bytes() == (tmp_path / "whole" / "boundary.jsonl").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX limits")
def test_a_disk_that_is_full_is_one_line_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    dataset, out = write_dataset(tmp_path / "d.jsonl", 60), tmp_path / "b"
    # A file may not grow beyond this: the kernel refuses the write as it does on a full disk.
    limit = (
        "import resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"
    )
    for size, file in ((5_000, "journal.jsonl"), (18_000, "boundary.jsonl")):
        ended = subprocess.run(
            [*child(limit.format(size)), str(dataset), str(out)], capture_output=True, text=True
        )
        assert ended.stderr.strip().splitlines()[-1] == (
            f"knowwhen.models.errors.KnowwhenError: {out / file} could not be written: File too large; make "
            "room and run again, every finished question is kept"
        )
        assert not (out / "boundary.jsonl").exists()
    silent = ScriptedChat([])
    assert build(dataset, out, silent).all.number == 60
    assert silent.prompts == []


def test_turns_are_read_back_as_written_and_other_lines_refused(tmp_path: Path) -> None:
    turns = [Turn("a", "1", 'What is "it"?\n', "Łódź 🙂"), Turn("b", "2", "Who?", "RAG_REQUIRED")]
    (tmp_path / "journal.jsonl").write_text("no turns")
    write_turns(tmp_path / "a.jsonl", turns[:1])
    write_turns(tmp_path / "b.jsonl", turns[1:])
    assert read_turns(tmp_path) == turns
    assert read_turns(tmp_path / "b.jsonl") == turns[1:]
    user, assistant = {"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}
    for line in (
        "{",
        "[]",
        "{}",
        json.dumps({"messages": [user]}),
        json.dumps({"messages": [assistant, user]}),
        json.dumps({"messages": [user, assistant, user]}),
        json.dumps({"messages": [user, {"role": "assistant", "content": " "}]}),
        json.dumps({"messages": [user, {"role": "assistant", "content": None}]}),
        json.dumps({"messages": "ab"}),
    ):
        (tmp_path / "c.jsonl").write_text(json.dumps({"messages": [user, assistant]}) + "\n" + line)
        with pytest.raises(KnowwhenError, match=r"c.jsonl:2: these are not two messages with text.*; mend"):
            read_turns(tmp_path / "c.jsonl")
    for nothing in (tmp_path / "nothing", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(SettingsError, match="there is no chat JSONL at"):
            read_turns(nothing)


# The command, with the pocket model and the almanac.


def test_the_command_makes_the_pocket_models_set(tmp_path: Path) -> None:
    out = tmp_path / "b"
    command = [*KNOWWHEN, "train", "boundary", "--dataset", "almanac:train", "--limit", "16"]
    ended = subprocess.run([*command, "--out", str(out), "--json"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "16 of 16 questions" in ended.stderr
    assert "questions take more than one fact and were left out" in ended.stderr
    told = json.loads(ended.stdout)
    assert told["boundary"] == str(out / "boundary.jsonl")
    assert (told["unit"], told["all"]["number"], told["model_calls"]) == ("tokens", 16, 16)
    assert told["confident_knowledge"]["number"] + told["knowledge_gap"]["number"] == 16
    turns = read_turns(out)
    asked = {question.id: question for question in read_dataset("almanac:train")}
    for turn in turns:  # the answers that are kept are the model's own and right
        if turn.kind == "confident knowledge":
            assert exact_match(turn.reply, asked[turn.question_id].golden_answers)
            prompt = answer_directly.PROMPT.format(question=asked[turn.question_id].question)
            assert pocket().invoke(prompt, temperature=0.0).text.strip() == turn.reply
    assert {turn.kind for turn in turns} == {"confident knowledge", "knowledge gap"}
    lengths = [len(pocket().get_token_ids(turn.prompt)) for turn in turns]
    assert told["all"]["input_length"] == pytest.approx(sum(lengths) / 16)

    # Again, as a table, without a question asked.
    again = CliRunner().invoke(app, [*command[3:], "--out", str(out)])
    assert again.exit_code == 0, again.output
    for kind in ("all", "confident_knowledge", "knowledge_gap"):
        cells = (
            f"{told[kind]['number']}",
            f"{told[kind]['input_length']:.1f}",
            f"{told[kind]['output_length']:.1f}",
        )
        row = next(line for line in again.stdout.splitlines() if kind.replace("_", " ") in line)
        assert [cell.strip() for cell in row.strip("│").split("│")[1:]] == list(cells)


@pytest.mark.parametrize(
    ("dataset", "status", "said"),
    [("nq", 2, "no dataset is called 'nq'"), ("bad.jsonl", 1, "bad.jsonl:1: its id is")],
)
def test_an_error_is_one_line_and_nothing_is_left_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    dataset: str,
    status: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text('{"question": "Q?", "golden_answers": ["A"]}\n')
    monkeypatch.setattr(
        sys, "argv", ["knowwhen", "train", "boundary", "--dataset", dataset, "--out", "made/b"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    out, error = capsys.readouterr()
    assert (ended.value.code, out) == (status, "")
    assert error.startswith("knowwhen: ") and error.count("\n") == 1
    assert said in error
    assert not Path("made").exists()
