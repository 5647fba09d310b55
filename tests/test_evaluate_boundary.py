"""The boundary report: control flow by script, faults by a server, the whole by the pocket model."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openai_server import serve
from processes import started
from scripted import ScriptedChat

from knowwhen.cli import main
from knowwhen.evaluation import implication
from knowwhen.evaluation.boundary import BoundaryReport, boundary_report
from knowwhen.evaluation.boundary_plot import plot_boundary
from knowwhen.evaluation.boundary_table import as_markdown
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.nodes import answer_directly, confident_qa

KNOWWHEN = [sys.executable, "-c", "from knowwhen.cli import main; main()"]


def number_of(prompt: str) -> int:
    return int(prompt.split("film ")[1].split("?")[0])


def script(prompt: str) -> str:
    """Knows who directed the even films; of every third it is not certain."""
    number = number_of(prompt)
    if confident_qa.RAG_REQUIRED in prompt and number % 3 == 0:
        return " rag required.\n"
    return " Velo Taray\n" if number % 2 == 0 else "Zed"


def write_dataset(path: Path, count: int, gold: str = "Velo Taray", **metadata: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [
        {
            "id": f"q{number}",
            "question": f"Who directed film {number}?",
            "golden_answers": [gold],
            "metadata": metadata,
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "d.jsonl", 6)


def counts(report: BoundaryReport, place: int = 0) -> list[int]:
    return list(report.datasets[place].verdicts.model_dump().values())


# Asking.


def test_every_question_is_asked_in_both_ways_greedily(dataset: Path) -> None:
    model = ScriptedChat(script)
    told: list[tuple[int, int]] = []
    report = boundary_report(model, [dataset], report=lambda done, total: told.append((done, total)))
    questions = [f"Who directed film {number}?" for number in range(6)]
    prompts = [
        each.PROMPT.format(question=text) for text in questions for each in (answer_directly, confident_qa)
    ]
    assert sorted(model.prompts) == sorted(prompts)
    assert all((call["temperature"], call["max_tokens"]) == (0, 256) for call in model.calls)
    assert told == [(done, 6) for done in range(7)]
    assert counts(report) == [2, 2, 1, 1]  # films 2, 4; 1, 5; 0; 3
    (found,) = report.datasets
    assert (found.dataset, found.confident.number, found.consistency.number) == (str(dataset), 4, 4)
    assert found.consistency.accuracy
    assert found.consistency.accuracy.value == 1
    assert (report.average, report.accuracy, report.first_failure) == (None, "contains", "")
    assert (report.cost["model_calls"], report.judge_cost["model_calls"]) == (12, 0)


def test_several_datasets_give_a_block_each_and_their_average(tmp_path: Path) -> None:
    one, other = tmp_path / "one" / "test.jsonl", tmp_path / "test.jsonl"
    write_dataset(one, 6)
    write_dataset(other, 2, gold="Zed")  # with ids that the first has, too
    report = boundary_report(ScriptedChat(script), [one, other])
    assert [each.dataset for each in report.blocks] == [str(one), str(other), "average"]
    assert (counts(report, 0), counts(report, 1)) == ([2, 2, 1, 1], [1, 0, 0, 1])
    assert report.average
    assert list(report.average.verdicts.model_dump().values()) == [3, 2, 1, 2]
    assert report.average.declines_right
    assert report.average.declines_right.value == pytest.approx((3 / 6 + 2 / 2) / 2)


def test_questions_of_several_facts_are_left_out_before_the_draw(tmp_path: Path) -> None:
    one_hop = write_dataset(tmp_path / "one.jsonl", 5, hops=1).read_text()
    two_hop = write_dataset(tmp_path / "two.jsonl", 7, hops=2)
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(two_hop.read_text().replace('"id": "', '"id": "two-') + one_hop)
    (found,) = boundary_report(ScriptedChat(script), [mixed]).datasets
    assert (found.direct.number, found.left_out) == (5, 7)
    (found,) = boundary_report(ScriptedChat(script), [mixed], limit=4).datasets
    assert (found.direct.number, found.left_out) == (4, 7)
    with pytest.raises(
        KnowwhenError, match=r"two.jsonl holds no single-hop question; give a dataset that does"
    ):
        boundary_report(ScriptedChat([]), [two_hop])


@pytest.mark.parametrize(
    ("datasets", "limit", "said"),
    [
        ([], 1, "there is no dataset to ask; give one or more"),
        (["almanac", "almanac"], 1, "almanac is given twice; give each dataset once"),
        (["almanac"], 0, "limit must be at least 1 question"),
        (["nq"], 1, "no dataset is called 'nq'"),
    ],
)
def test_wrong_use_is_refused(datasets: list[str], limit: int, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        boundary_report(ScriptedChat([]), datasets, limit=limit)


# The judge.


def test_a_judge_is_asked_about_each_answer_and_between_the_two() -> None:
    from knowwhen.evaluation.both_answers import ask_both
    from knowwhen.evaluation.datasets import GoldQuestion
    from knowwhen.models.door import Door

    question = GoldQuestion("q", "Who {x} it?", ("Velo Taray", "V. T."))

    def asked(right: str, given: str) -> str:
        return implication.PROMPT.format(question="Who {x} it?", right=right, given=given)

    golds = "Velo Taray or V. T."
    said = {
        asked(golds, "Velo"): "Yes.",
        asked(golds, "Zed or Bo"): "I wonder",
        asked("Velo", "Zed or Bo"): "No",
    }
    judge = ScriptedChat(said.__getitem__)
    both = ask_both(Door(ScriptedChat(["Velo", "Zed\nor Bo"])), question, Door(judge))
    assert sorted(judge.prompts) == sorted(said)
    assert both.judgement
    assert both.judgement.model_dump() == {"direct": 1, "confident": 0, "consistent": 0, "unread": 1}
    assert both.judge_cost
    assert (both.cost["model_calls"], both.judge_cost["model_calls"]) == (2, 3)

    judge = ScriptedChat(["Yes"])
    both = ask_both(Door(ScriptedChat(["Velo", "RAG_REQUIRED"])), question, Door(judge))
    assert judge.prompts == [asked(golds, "Velo")]
    assert both.judgement
    assert both.judgement.model_dump() == {"direct": 1, "confident": None, "consistent": None, "unread": 0}

    judge = ScriptedChat(lambda prompt: "yes")
    both = ask_both(Door(ScriptedChat(["Velo", "Velo"])), question, Door(judge))
    assert sorted(judge.prompts) == sorted([asked(golds, "Velo"), asked("Velo", "Velo")])
    assert both.judgement
    assert (both.judgement.confident, both.judgement.consistent) == (1, 1)


def test_accuracy_is_the_judges_and_says_so(dataset: Path) -> None:
    judge = ScriptedChat(lambda prompt: "yes" if "given answer: Zed" in prompt.replace("G", "g") else "hmm")
    report = boundary_report(ScriptedChat(script), [dataset], judge=judge)
    (found,) = report.datasets
    assert found.direct.accuracy
    assert found.direct.accuracy.value == 0.5  # of Zed, who directed none
    # Of films 2 and 4 the three answers are one, so that there is one thing to ask.
    assert found.unread == 3
    assert report.accuracy == "ScriptedChat"
    assert report.judge_cost["model_calls"] == 6 + 2
    assert "| accuracy by ScriptedChat |" in as_markdown(report)


# What fails, stops, and goes on.


def test_a_server_that_refuses_some_questions(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from knowwhen.models.resolve import resolve_model

    def refusing(prompt: str) -> str | Exception:
        return KnowwhenError("refused by the filter") if number_of(prompt) in (1, 4) else script(prompt)

    with serve(ScriptedChat(refusing)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        report = boundary_report(resolve_model("openai:tiny"), [dataset])
    assert counts(report) == [1, 1, 1, 1]
    (found,) = report.datasets
    assert (found.direct.number, found.failed) == (4, 2)
    assert report.first_failure.startswith(
        (f"{dataset}/q1: ChatOpenAI (tiny)", f"{dataset}/q4: ChatOpenAI (tiny)")
    )
    assert "refused by the filter" in report.first_failure


def test_a_server_that_is_down_ends_the_run(tmp_path: Path) -> None:
    model = ScriptedChat(lambda prompt: ValueError("down"))
    with pytest.raises(KnowwhenError, match="10 questions failed one after the other"):
        boundary_report(model, [write_dataset(tmp_path / "d.jsonl", 100)])
    assert len(model.prompts) < 10 + 16


def test_what_failed_is_asked_again_and_nothing_else(dataset: Path, tmp_path: Path) -> None:
    def failing(prompt: str) -> str | Exception:
        return ValueError("no") if number_of(prompt) == 3 else script(prompt)

    assert boundary_report(ScriptedChat(failing), [dataset], out=tmp_path / "r").datasets[0].failed == 1
    again = ScriptedChat(script)
    report = boundary_report(again, [dataset], out=tmp_path / "r")
    assert sorted(map(number_of, again.prompts)) == [3, 3]
    assert report == boundary_report(ScriptedChat(script), [dataset])
    assert boundary_report(ScriptedChat([]), [dataset], out=tmp_path / "r") == report


def test_the_journal_holds_both_replies(dataset: Path, tmp_path: Path) -> None:
    boundary_report(ScriptedChat(script), [dataset], out=tmp_path / "r")
    header, *lines = map(json.loads, (tmp_path / "r" / "journal.jsonl").read_text().splitlines())
    assert header["origin"]["model"] == "ScriptedChat"
    replies = {line["question"]: (line["direct"], line["confident"], line["declined"]) for line in lines}
    assert replies["Who directed film 3?"] == ("Zed", "rag required.", True)
    assert replies["Who directed film 4?"] == ("Velo Taray", "Velo Taray", False)
    assert len(replies) == 6


def test_a_journal_of_another_model_judge_or_prompt_is_refused(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boundary_report(ScriptedChat(script), [dataset], out=tmp_path / "r")
    with pytest.raises(SettingsError, match="begun with model 'ScriptedChat', which is now 'pocket'"):
        boundary_report("pocket", [dataset], out=tmp_path / "r")
    with pytest.raises(SettingsError, match="begun with judge '', which is now 'ScriptedChat'"):
        boundary_report(ScriptedChat([]), [dataset], judge=ScriptedChat([]), out=tmp_path / "r")
    monkeypatch.setattr(confident_qa, "PROMPT", "Are you sure? " + confident_qa.PROMPT)
    with pytest.raises(SettingsError, match="begun with prompts '"):
        boundary_report(ScriptedChat([]), [dataset], out=tmp_path / "r")


# Each answer takes 20 ms.
CHILD = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_evaluate_boundary import *
boundary_report(ScriptedChat(script, delay=0.02), [Path(sys.argv[1])], limit=1000, out=Path(sys.argv[2]))
"""


def wait_for_lines(path: Path, count: int, process: "subprocess.Popen[str]") -> None:
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def test_killed_in_the_middle_it_goes_on_and_asks_nothing_finished_twice(tmp_path: Path) -> None:
    dataset, out = write_dataset(tmp_path / "d.jsonl", 400), tmp_path / "r"
    child = [sys.executable, "-c", CHILD.format(tests=str(Path(__file__).parent)), str(dataset), str(out)]
    with started(child, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_lines(out / "journal.jsonl", 30, process)
        process.send_signal(signal.SIGKILL)
    lines = (out / "journal.jsonl").read_bytes().split(b"\n")[1:-1]
    finished = {number_of(json.loads(line)["question"]) for line in lines}
    assert 29 <= len(finished) < 400
    model = ScriptedChat(script)
    resumed = boundary_report(model, [dataset], limit=1000, out=out)
    assert sorted(map(number_of, model.prompts)) == sorted([*(set(range(400)) - finished)] * 2)
    assert resumed == boundary_report(ScriptedChat(script), [dataset], limit=1000)


# The command, with the pocket model and the almanac.

COMMAND = ["evaluate", "boundary", "--dataset", "almanac:test", "--dataset", "almanac:calibration"]


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_the_command_goes_on(tmp_path: Path) -> None:
    command = [*KNOWWHEN, *COMMAND, "--limit", "12", "--out", str(tmp_path / "r"), "--json"]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_lines(tmp_path / "r" / "journal.jsonl", 3, process)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert error.endswith("knowwhen: stopped\n")
    finished = (tmp_path / "r" / "journal.jsonl").read_bytes().count(b"\n") - 1
    assert 2 <= finished < 24
    assert not (tmp_path / "r" / "boundary.json").exists()

    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "24 of 24 questions" in ended.stderr
    assert "almanac:test: 934 questions take more than one fact and are left out" in ended.stderr
    told = BoundaryReport.model_validate_json(ended.stdout)
    assert told == boundary_report("pocket", ["almanac:test", "almanac:calibration"], limit=12)
    assert told == BoundaryReport.model_validate_json((tmp_path / "r" / "boundary.json").read_text())
    assert told.cost["model_calls"] == 48
    for found in told.datasets:
        assert found.direct.number == found.confident.number + found.knowledge_gap.number == 12
        assert found.direct.exact_match
        assert found.verdicts.answered_right + found.verdicts.declined_right == pytest.approx(
            12 * found.direct.exact_match.value
        )
    assert (tmp_path / "r" / "boundary.md").read_text() == as_markdown(told)
    assert (tmp_path / "r" / "boundary.png").read_bytes().startswith(b"\x89PNG")


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["knowwhen", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    out, error = capsys.readouterr()
    return int(ended.value.code or 0), out, error


def use(monkeypatch: pytest.MonkeyPatch, script: Callable[[str], Any]) -> None:
    """Let the pocket model say what a script says."""
    monkeypatch.setattr("knowwhen.models.pocket.pocket", lambda: ScriptedChat(script))


def test_the_tables_fit_80_columns_and_hold_the_figures(
    dataset: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, script)
    monkeypatch.setenv("COLUMNS", "80")
    other = write_dataset(dataset.parent / "e.jsonl", 5)
    status, out, _ = run(
        monkeypatch, capsys, "evaluate", "boundary", "--dataset", dataset, "--dataset", other
    )
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    text = " ".join(out.split())
    assert "Direct QA 6 0.500 0.500 0.500 0.500 [0.17,0.83] [0.17,0.83] [0.17,0.83]" in text
    assert (
        "Declines right: 0.500 [0.17, 0.83]; answered 2 right and 2 wrong, declined 1 right and 1 wrong."
        in text
    )
    for row in ("Confident QA 4", "Knowledge Gap 2", "consistency 4", "difference 6", "average"):
        assert row in text


def test_the_page_shows_what_there_is_and_dashes_for_what_is_not(dataset: Path, tmp_path: Path) -> None:
    report = boundary_report(ScriptedChat(lambda prompt: "Velo Taray"), [dataset])
    page = as_markdown(report)
    assert (
        "| Confident QA | 6 | 1.000 [1.00, 1.00] | 1.000 [1.00, 1.00] | 1.000 [1.00, 1.00] | 1.000 |" in page
    )
    assert "| Knowledge Gap | 0 | – | – | – | – |" in page
    assert "| difference | 0 | – | – | – | – |" in page
    plot_boundary(report, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_what_went_wrong_is_told_on_stderr(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(prompt: str) -> str | Exception:
        if number_of(prompt) == 5:
            return ValueError("no")
        return "" if confident_qa.RAG_REQUIRED in prompt and number_of(prompt) == 2 else script(prompt)

    use(monkeypatch, silent)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "knowwhen.evaluation.boundary_plot")
    monkeypatch.setattr(
        "knowwhen.models.resolve._from_provider", lambda name: ScriptedChat(lambda prompt: "hm")
    )
    status, out, error = run(
        monkeypatch, capsys, "evaluate", "boundary", "--dataset", dataset, "--judge", "openai:judge",
        "--out", tmp_path / "r", "--json",
    )  # fmt: skip
    assert status == 0
    told = json.loads(out)
    assert (told["accuracy"], told["datasets"][0]["empty"]) == ("openai:judge", 1)
    assert f"{dataset}: 1 questions failed and are left out; run again to ask them again\n" in error
    assert f"{dataset}: 1 replies to Confident QA were empty and count as declined\n" in error
    assert f"{dataset}: 6 replies of the judge were neither yes nor no and count as no\n" in error
    assert "the first failure was" in error
    assert "there is no plot without matplotlib; pip install 'knowwhen[training]'\n" in error
    assert sorted(path.name for path in (tmp_path / "r").iterdir() if path.suffix != ".lock") == [
        "boundary.json", "boundary.md", "journal.jsonl"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (["--dataset", "nq"], 2, "knowwhen: no dataset is called 'nq'"),
        (["--dataset", "bad.jsonl"], 1, "knowwhen: bad.jsonl:1: its id is"),
        (["--dataset", "almanac", "--model", "nobody"], 2, "knowwhen: 'nobody' names no known model"),
    ],
)
def test_an_error_is_one_line_and_nothing_is_left_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    status: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text('{"question": "Q?", "golden_answers": ["A"]}\n')
    ended, out, error = run(monkeypatch, capsys, "evaluate", "boundary", *given, "--out", "made/r")
    assert (ended, out) == (status, "")
    assert error.startswith(said)
    assert error.count("\n") == 1
    assert not Path("made").exists()


def test_a_disk_that_is_full_is_told(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, script)
    (tmp_path / "r").mkdir()
    boundary_report("pocket", [dataset], out=tmp_path / "r")
    (tmp_path / "r" / "boundary.json").symlink_to("/dev/full")
    status, out, error = run(
        monkeypatch, capsys, "evaluate", "boundary", "--dataset", dataset, "--out", tmp_path / "r"
    )
    assert (status, out) == (1, "")
    assert error.splitlines()[-1] == (
        f"knowwhen: {tmp_path / 'r'} could not be written: No space left on device; make room and run again, "
        "every finished question is kept"
    )
