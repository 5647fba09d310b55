"""A run whose questions are answered in several processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai_server import serve
from scripted import ScriptedChat
from test_running import outcomes, script, write_dataset

from knowwhen.cli import main
from knowwhen.evaluation.arms import arm
from knowwhen.evaluation.processes import Answering, in_processes
from knowwhen.evaluation.question_set import QuestionSet
from knowwhen.evaluation.running import run
from knowwhen.graphs import Method, direct
from knowwhen.models.errors import KnowwhenError, ModelError, SettingsError

COST = {"model_calls": 1}


class Own(Exception):
    """Cannot be sent: it wants more than it keeps."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


class Answers:
    """Says in which process it is; a question may ask for other things."""

    def __init__(self) -> None:
        self.six = asyncio.Event()
        self.met = 0

    async def ainvoke(self, asked: Any) -> dict[str, Any]:
        question = asked["question"]
        if "film 3?" in question:
            raise ModelError("the server is down")
        if "film 4?" in question:
            raise Own("this", "that")
        if "wait" in question:
            await asyncio.sleep(60)
        if "end" in question:
            os.kill(os.getpid(), signal.SIGKILL)
        if "meet" in question:
            self.met += 1
            if self.met == 6:
                self.six.set()
            await self.six.wait()
        return {"answer": str(os.getpid()), "steps": [], "cost": COST}


def refuse() -> Answering:
    raise SettingsError("there is no such method")


def end_at_once() -> Answering:
    os._exit(3)


@pytest.fixture(scope="module")
def two() -> Iterator[Answering]:
    with in_processes(Answers, 2) as method:
        yield method


def directly() -> Method:
    return direct("pocket")


def test_questions_are_answered_side_by_side_in_all_processes(two: Answering) -> None:
    async def all_at_once() -> list[dict[str, Any]]:
        asked = (two.ainvoke({"question": "meet"}) for _ in range(12))
        return await asyncio.wait_for(asyncio.gather(*asked), 60)

    answers = [each["answer"] for each in asyncio.run(all_at_once())]
    assert len(set(answers)) == 2
    assert [answers.count(each) for each in set(answers)] == [6, 6]
    assert str(os.getpid()) not in answers


def test_a_question_that_fails_in_a_process_is_kept_with_its_error(two: Answering, tmp_path: Path) -> None:
    ran = run(
        replace(arm(directly()), method=two), QuestionSet(write_dataset(tmp_path / "d", 6)), tmp_path / "e"
    )
    kept = outcomes(ran)
    assert (ran.tally.finished, ran.tally.failed) == (4, 2)
    assert kept["q3"].error == "the server is down"
    assert kept["q4"].error == "RuntimeError: Own: this and that"
    assert kept["q1"].output


def test_a_run_gives_what_it_gives_in_one_process(tmp_path: Path) -> None:
    questions = QuestionSet("almanac:calibration", limit=12)
    entry = arm(directly(), model="pocket")
    here = run(entry, questions, tmp_path / "here")
    with in_processes(directly, 2) as method:
        there = run(replace(entry, method=method), questions, tmp_path / "there")
    for id, outcome in outcomes(here).items():
        other = outcomes(there)[id]
        assert other.model_copy(update={"seconds": 0.0}) == outcome.model_copy(update={"seconds": 0.0})


def test_what_building_raises_is_raised() -> None:
    with pytest.raises(SettingsError, match="there is no such method"), in_processes(refuse, 2):
        pass
    with (
        pytest.raises(KnowwhenError, match=r"has ended \(status 3\); run again"),
        in_processes(end_at_once, 1),
    ):
        pass
    with pytest.raises(SettingsError, match="at least 1, not 0"), in_processes(Answers, 0):
        pass


def test_a_process_that_ends_ends_the_run_and_whoever_waits(tmp_path: Path) -> None:
    async def both(method: Answering) -> list[Any]:
        asked = (method.ainvoke({"question": question}) for question in ("wait", "end"))
        return await asyncio.gather(*asked, return_exceptions=True)

    with in_processes(Answers, 1) as method:
        ended = asyncio.run(both(method))
        assert [type(each) for each in ended] == [KnowwhenError, KnowwhenError]
        assert "has ended (status -9); run again to go on" in str(ended[0])
        with pytest.raises(KnowwhenError, match="has ended"):
            asyncio.run(method.ainvoke({"question": "1"}))


def test_processes_end_with_a_run_that_is_killed() -> None:
    code = "from test_processes import *\nif __name__ == '__main__':\n    stay()\n"
    with subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{code}"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        process.kill()
    for _ in range(600):
        if ended(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the process outlived the run")


def ended(pid: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def stay() -> None:
    """Have a process answer for ever."""
    with in_processes(Answers, 1) as method:
        print(asyncio.run(method.ainvoke({"question": "1"}))["answer"], flush=True)
        asyncio.run(method.ainvoke({"question": "wait"}))


def shell(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["knowwhen", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_from_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 10)
    asked = ["evaluate", "--method", "direct", "--no-references", "--dataset", str(dataset), "--json"]
    asked += ["--model", "openai:m", "--processes", "2", "--concurrency", "5"]
    with serve(ScriptedChat(script)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert shell(monkeypatch, *asked, "--out", str(tmp_path / "e")) == 0
        assert len(server.requests) == 10
    figures = json.loads(capsys.readouterr().out)["runs"]["direct"]
    assert (figures["questions"], figures["asked"], figures["failed"]) == (10, 10, 0)
    assert figures["means"]["exact_match"] == 0.5
    assert shell(monkeypatch, *asked, "--out", str(tmp_path / "f"), "--record", str(tmp_path / "r")) == 2
    assert "--record and --replay go with one process" in capsys.readouterr().err
