"""`knowwhen evaluate --method` and `knowwhen compare`, with the pocket model and the almanac."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from processes import started

from knowwhen.cli import main
from knowwhen.commands.run_progress import line, scores_so_far
from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.tally import Tally
from knowwhen.method_settings import known_to, shared_out
from knowwhen.models.errors import SettingsError

KNOWWHEN = [sys.executable, "-c", "from knowwhen.cli import main; main()"]
SMALL = ["--dataset", "almanac:test", "--limit", "4"]


def run_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str | Path
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["knowwhen", *map(str, arguments)])
    try:
        main()
        status: Any = 0
    except SystemExit as ended:
        status = ended.code or 0
    told = capsys.readouterr()
    return int(status), told.out, told.err


def origin(out: Path, label: str) -> dict[str, Any]:
    header = (out / "runs" / label / "journal.jsonl").read_text().splitlines()[0]
    told: dict[str, Any] = json.loads(header)["origin"]
    return told


def ids(out: Path, label: str) -> set[str]:
    lines = (out / "runs" / label / "journal.jsonl").read_text().splitlines()[1:]
    return {json.loads(line)["question_id"] for line in lines}


# The commands.


def test_a_method_is_evaluated_beside_its_two_ends_on_the_same_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "e"
    given = ["evaluate", *SMALL, "--out", out, "--set", "alpha=0.7", "--set", "passages=2"]
    status, printed, error = run_command(monkeypatch, capsys, *given)
    assert status == 0, error
    for label in ("self_dc", "direct", "retrieve_then_read"):
        assert label in printed
        assert f"{label}: 4 of 4 questions" in error
    assert ids(out, "self_dc") == ids(out, "direct") == ids(out, "retrieve_then_read")
    # The references take of the settings what they know.
    told = {label: json.loads(origin(out, label)["settings"]) for label in ("self_dc", "retrieve_then_read")}
    assert (told["self_dc"]["alpha"], told["self_dc"]["passages"]) == (0.7, 2)
    assert (told["retrieve_then_read"]["passages"], "alpha" in told["retrieve_then_read"]) == (2, False)
    assert origin(out, "direct")["corpus"] == ""
    assert origin(out, "self_dc") | {"settings": ""} == {
        **origin(out, "retrieve_then_read"),
        "method": "self_dc",
        "settings": "",
        "prompts": origin(out, "self_dc")["prompts"],
    }
    assert origin(out, "self_dc")["weights"] and origin(out, "self_dc")["passages"]

    status, printed, error = run_command(monkeypatch, capsys, *given, "--json")
    told = json.loads(printed)
    assert (told["markdown"], told["html"]) == (str(out / "report.md"), str(out / "report.html"))
    assert Path(told["html"]).is_file() and Path(told["markdown"]).is_file()
    assert {label: run["asked"] for label, run in told["runs"].items()} == {
        "self_dc": 0, "direct": 0, "retrieve_then_read": 0,
    }  # fmt: skip
    assert told["runs"]["retrieve_then_read"]["means"]["passages"] == 2
    assert told["runs"]["direct"]["means"]["retrievals"] == 0
    status, _, error = run_command(monkeypatch, capsys, *given, "--set", "alpha=0.6")
    assert status == 2
    assert (
        error.splitlines()[-1].startswith("knowwhen: ")
        and "was begun with settings alpha 0.7, which is now 0.6;" in error
    )


def test_methods_are_compared_also_one_with_itself_otherwise_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "e"
    given = ["compare", *SMALL, "--out", out, "--methods", "direct, plain=self_dc,sure=self_dc", "--json"]
    more = ["--set", "sure.alpha=0", "--set", "sure.beta=0", "--set", "temperature=0"]
    status, printed, error = run_command(monkeypatch, capsys, *given, *more)
    assert status == 0, error
    runs = json.loads(printed)["runs"]
    assert list(runs) == ["direct", "plain", "sure"]
    assert runs["sure"]["means"]["retrievals"] == 0 < runs["plain"]["means"]["retrievals"]
    assert ids(out, "direct") == ids(out, "plain") == ids(out, "sure")
    assert {json.loads(origin(out, label)["settings"])["temperature"] for label in runs} == {0}
    assert origin(out, "sure")["method"] == "self_dc"


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (["evaluate", "--dataset", "almanac:test"], 2, "knowwhen evaluate needs --out DIR"),
        (["evaluate", "--out", "made"], 2, "knowwhen evaluate needs --dataset DATASET"),
        (["compare", "--methods", "direct", "--out", "made"], 2, "knowwhen compare needs --dataset DATASET"),
        (
            ["evaluate", "--method", "cot", *SMALL, "--out", "made"],
            2,
            "there is no method 'cot'; choose from",
        ),
        (["evaluate", *SMALL, "--out", "made", "--set", "gamma=1"], 2, "there is no setting 'gamma'; choose"),
        (["evaluate", *SMALL, "--out", "made", "--set", "alpha=7"], 2, "alpha=7 is out of range"),
        (["evaluate", "--dataset", "nq", "--out", "made"], 2, "no dataset is called 'nq'"),
        (["evaluate", *SMALL, "--out", "made", "--metric", "bleu"], 2, "there is no metric 'bleu'"),
        (
            ["compare", "--methods", "direct,direct", *SMALL, "--out", "made"],
            2,
            "two methods are called direct",
        ),
        (["compare", "--methods", ",", *SMALL, "--out", "made"], 2, "there is no method to run"),
        (["compare", "--methods", "a/b=direct", *SMALL, "--out", "made"], 2, "cannot be a folder's name"),
        (
            ["compare", "--methods", "direct", *SMALL, "--out", "made", "--set", "keqa.alpha=1"],
            2,
            "--set keqa.alpha is for 'keqa', which is not run; there is direct",
        ),
        (["evaluate", *SMALL, "--out", "made", "--replay", "none"], 1, "none/self_dc holds no recording"),
    ],
)
def test_wrong_use_is_one_line_and_nothing_is_left_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    status: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    found, out, error = run_command(monkeypatch, capsys, *given)
    assert (found, out) == (status, "")
    assert error.startswith("knowwhen: ") and error.count("\n") == 1
    assert said in error
    assert not Path("made").exists()


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_the_command_goes_on(tmp_path: Path) -> None:
    command = [*KNOWWHEN, "evaluate", "--dataset", "almanac:test", "--limit", "40", "--concurrency", "2"]
    command += ["--no-references", "--method", "retrieve_then_read", "--out", str(tmp_path / "e")]
    journal = tmp_path / "e" / "runs" / "retrieve_then_read" / "journal.jsonl"
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
            assert process.poll() is None, process.communicate()
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert error.endswith("knowwhen: stopped\n")
    finished = journal.read_bytes().count(b"\n") - 1
    assert 3 <= finished < 40
    ended = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)["runs"]["retrieve_then_read"]
    assert (told["questions"], told["asked"], told["failed"]) == (40, 40 - finished, 0)


# Settings.


def test_a_setting_goes_to_all_methods_that_have_it_or_to_one() -> None:
    methods = {"direct": "direct", "a": "self_dc", "b": "keqa"}
    pairs = ["alpha=0.9", "temperature=0", "b.tries=7", "judge=match"]
    assert shared_out(pairs, methods) == {
        "direct": {"temperature": 0},
        "a": {"alpha": 0.9, "temperature": 0},
        "b": {"alpha": 0.9, "temperature": 0, "tries": 7, "judge": "match"},
    }
    # One that nobody has is given to all, who say what they have instead; references alone are not enough.
    assert shared_out(["gamma=1"], methods) == {label: {"gamma": 1} for label in methods}
    assert shared_out(["passages=1"], {"direct": "direct", "r": "retrieve_then_read"}, ["r"])["direct"]
    with pytest.raises(SettingsError, match=r"--set c.x is for 'c', which is not run; there is direct, a, b"):
        shared_out(["c.x=1"], methods)


def test_what_a_method_can_be_told_is_its_settings_and_its_keywords() -> None:
    assert {"alpha", "beta", "temperature", "passages", "retriever", "prompts"} <= known_to("self_dc")
    assert "alpha" not in known_to("direct") and "retriever" not in known_to("direct")
    assert {"judge", "picker", "reference", "tries"} <= known_to("keqa")
    assert "settings" not in known_to("keqa")


# Progress.


def outcome(number: int, failed: bool = False) -> Outcome:
    return Outcome(
        question_id=f"q{number}",
        question="?",
        golden_answers=("a",),
        metadata={},
        output=None if failed else {"cost": {"retrievals": number}},
        metrics={} if failed else {"exact_match": 1, "f1": 0.5},
        seconds=2,
        error="lost" if failed else "",
    )


def test_the_line_tells_rate_time_left_and_scores() -> None:
    tally = Tally(7200)
    assert line("keqa", tally, 0) == "keqa: 0 of 7,200 questions"
    tally.add(outcome(1))
    tally.add(outcome(2))
    assert line("keqa", tally, 5) == "keqa: 2 of 7,200 questions; EM 1.000, F1 0.500, 1.50 retrievals"
    tally.asked = 2  # those of an earlier run do not make this one faster
    assert line("keqa", tally, 4) == (
        "keqa: 2 of 7,200 questions, 0.5/s, 3:59:56 left; EM 1.000, F1 0.500, 1.50 retrievals"
    )
    tally.add(outcome(3, failed=True))
    assert line("keqa", tally, 4).endswith("1.50 retrievals, 1 failed")
    assert tally.first_failure == "q3: lost"


def test_without_a_terminal_lines_are_few_and_the_last_one_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = Tally(100)
    with scores_so_far("direct") as watch:
        watch(tally)
        for number in range(100):
            tally.asked += 1
            tally.add(outcome(number))
            watch(tally)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "direct: 0 of 100 questions"
    assert told[-1].startswith("direct: 100 of 100 questions, ")
    assert len(told) < 10
