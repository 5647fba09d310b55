"""`knowwhen ask` and `draw`, as a user meets them, on the pocket model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from openai_server import serve
from processes import started
from scripted import ScriptedChat

from knowwhen.almanac import default_world
from knowwhen.almanac.questions import knowledge
from knowwhen.almanac.splits import questions_of
from knowwhen.cli import main
from knowwhen.graphs import METHODS
from knowwhen.settings_text import read_settings
from knowwhen.tools.printable import printable
from knowwhen.tree import QuestionTree


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """The command line in this process, which loads torch once."""

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["knowwhen", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        shown = capsys.readouterr()
        return Done(int(stopped.value.code or 0), shown.out, shown.err)

    return run


def test_a_process_of_its_own_answers() -> None:
    command = [sys.executable, "-c", "from knowwhen.cli import main; main()", "ask", a_mixed_question()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and "model calls" in done.stderr and "Traceback" not in done.stderr


def a_mixed_question() -> str:
    world = default_world()
    return next(
        q.question
        for q in questions_of(world, "test")
        if q.kind == "comparison" and knowledge(q, world) == "mixed"
    )


def test_json_is_the_whole_output_and_nothing_else_is_on_stdout(run) -> None:
    done = run("ask", a_mixed_question(), "--json")
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert set(output) == {"answer", "explanation", "confidence", "steps", "cost"}
    assert output["steps"][-1]["id"] == "1" and output["steps"][-1]["parent"] is None
    assert output["answer"] == output["steps"][-1]["answer"]
    assert output["cost"]["model_calls"] >= 2


def test_the_answer_is_on_stdout_and_the_tree_and_cost_on_stderr(run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    question = a_mixed_question()
    done = run("ask", question)
    assert done.returncode == 0, done.stderr
    answer = json.loads(run("ask", question, "--json").stdout)["answer"]
    assert done.stdout.strip() == answer
    assert question in done.stderr and "at probability" in done.stderr and "model calls" in done.stderr


def test_a_stream_of_json_tells_the_routes_the_text_and_the_answer_last(run) -> None:
    done = run("ask", a_mixed_question(), "--json", "--stream")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[-1] == "answer" and set(kinds) == {"route", "text", "step", "answer"}
    answered = [event["id"] for event in events if event["event"] == "step"]
    *parts, root = [step["id"] for step in events[-1]["steps"]]
    assert answered[-1] == root and sorted(answered[:-1]) == sorted(parts)  # whichever is done first


def test_settings_reach_the_method(run) -> None:
    question = a_mixed_question()
    never = json.loads(run("ask", question, "--json", "--set", "alpha=0", "--set", "beta=0").stdout)
    always = json.loads(run("ask", question, "--json", "--set", "alpha=1", "--set", "beta=0").stdout)
    assert never["cost"]["retrievals"] == 0 and never["steps"][-1]["route"] == "generate"
    assert always["cost"]["retrievals"] == 1 and always["steps"][-1]["route"] == "retrieve"


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("ask", "who?", "--method", "oracle"), 2, "there is no method 'oracle'"),
        (("ask", "who?", "--set", "alpha=3"), 2, "alpha=3 is out of range"),
        (("ask", "who?", "--set", "gamma=1"), 2, "there is no setting 'gamma'"),
        (("ask", "who?", "--set", "alpha"), 2, "--set takes name=value"),
        (("ask", "  "), 2, "the question is empty"),
        (("ask", "who?", "--corpus", "no/such/folder"), None, "no/such/folder"),
        (("ask", "who?", "--model", "transformers:no/such/model"), 1, "no/such/model"),
    ],
)
def test_an_error_is_one_line_with_its_status(
    run, arguments: tuple[str, ...], status: int | None, says: str
) -> None:
    done = run(*arguments)
    assert done.returncode in ((status,) if status else (1, 2))
    assert done.stdout == "" and says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-c", "from knowwhen.cli import main; main()", "ask", "who?", "--debug"]
    command += ["--set", "gamma=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1 and "Traceback" in done.stderr


def test_ctrl_c_stops_at_once_though_a_server_does_not_answer() -> None:
    with serve(ScriptedChat(script=lambda prompt: "late"), hang=120) as server:
        command = [sys.executable, "-c", "from knowwhen.cli import main; main()", "ask", "who?"]
        command += ["--method", "direct", "--model", "openai:any"]
        environment = {**os.environ, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
        with started(command, env=environment, stderr=subprocess.PIPE) as asking:
            while not server.requests and asking.poll() is None:
                time.sleep(0.1)
            asking.send_signal(signal.SIGINT)
            _, shown = asking.communicate(timeout=60)
    assert asking.returncode == 130 and shown.strip().splitlines()[-1] == "knowwhen: stopped"


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_can_be_drawn_offline(run, method: str) -> None:
    done = run("draw", method)
    assert done.returncode == 0 and "graph TD" in done.stdout and "__end__" in done.stdout


def test_settings_are_read_as_json_and_else_as_text() -> None:
    read = read_settings(["alpha=0.5", "confidence=verbalised", "max_depth=2"])
    assert read == {"alpha": 0.5, "confidence": "verbalised", "max_depth": 2}


def test_no_text_can_command_the_terminal() -> None:
    hostile = "\x1b[2Jgone\x07\x9b31m\u202e"
    tree = QuestionTree()
    tree.add({"id": "1", "question": hostile, "route": "retrieve", "score": 0.1})
    tree.add({"id": "1", "answer": hostile, "notes": ["[bold]not markup[/bold]"]})
    from rich.console import Console

    console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(tree)
    shown = console.export_text()
    assert "\x1b" not in shown and "\x9b" not in shown and "[bold]not markup[/bold]" in shown
    assert "\u202e" not in printable(hostile)
