"""Recording and playing again: by script at the door, and whole runs of every kind of evidence."""

import json
import math
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from scripted import ScriptedChat
from test_running import ask, build, direct_of, failing_at, outcomes, script, write_dataset

from knowwhen.cli import main
from knowwhen.evaluation.arms import arm
from knowwhen.evaluation.question_set import QuestionSet
from knowwhen.evaluation.running import run
from knowwhen.evaluation.tapes import recorded_origin
from knowwhen.graphs import retrieve_then_read, self_dc
from knowwhen.models.capability import Capability, capabilities, describe
from knowwhen.models.door import Door
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.evidence import Evidence
from knowwhen.models.pocket import pocket
from knowwhen.models.reply import Reply, Retrieved
from knowwhen.models.resolve import resolve_model
from knowwhen.models.standing_in import (
    ModelRecord,
    StandInModel,
    StandInRetriever,
    noting_models,
    standing_in,
)
from knowwhen.models.tape import TAPE, Call, Form, T
from knowwhen.tools.resolve import resolve_retriever

SMALL = ["--dataset", "almanac:test", "--limit", "3", "--no-references"]


class Notes:
    """A tape that keeps what came through as JSON, and gives it back."""

    def __init__(self) -> None:
        self.packed: list[tuple[Call, Any, str, list[Any]]] = []

    def reply(self, call: Call, form: Form[T], make: Any) -> T:
        reply: T = make()
        packed, arrays = form.pack(reply)
        self.packed.append((call, form, json.dumps(packed), arrays))
        return reply

    def again(self) -> list[Any]:
        return [form.unpack(call, (json.loads(packed), arrays)) for call, form, packed, arrays in self.packed]


@contextmanager
def hung_up(tape: Any) -> Iterator[None]:
    before = TAPE.set(tape)
    try:
        yield
    finally:
        TAPE.reset(before)


# At the door.


def test_a_reply_comes_back_as_it_was_with_its_log_probabilities_and_cost() -> None:
    notes, door = Notes(), Door(ScriptedChat([[("a b", 0.5), ("c", 0.25)], "plain"]))
    with hung_up(notes):
        first = door.ask("hi", n=2, logprobs=True, temperature=0.7)
        second = door.ask("there")
    assert notes.again() == [first, second]
    again = notes.again()[0]
    assert isinstance(again, Reply) and again.token_logprobs
    assert [token.logprob for token in again.token_logprobs[0]] == [math.log(0.5)] * 2


class Odd(BaseRetriever):
    """Finds passages whose metadata are no JSON."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document("text", id="7", metadata={"title": "t", "score": np.float32(0.5), "at": Path("x")})]


def test_passages_come_back_with_what_they_are_read_for() -> None:
    notes = Notes()
    with hung_up(notes):
        Door(ScriptedChat([]), Odd()).retrieve("who?", 3)
    (found,) = notes.again()
    assert isinstance(found, Retrieved)
    assert found.documents == (Document("text", id="7", metadata={"title": "t", "score": 0.5, "at": "x"}),)
    assert (found.cost["retrievals"], found.cost["passages"]) == (1, 1)


def test_evidence_comes_back_with_the_states_and_normalisers_of_a_real_model() -> None:
    notes, door = Notes(), Door(pocket())
    prompts = ["Who directed it?", [HumanMessage("Who?"), AIMessage("Velo."), HumanMessage("Sure?")]]
    with hung_up(notes):
        shown = door.sample(prompts, 2, states=(None, "mlp"), logprobs=True, max_tokens=4, seed=1)
    (again,) = notes.again()
    assert len(shown) == len(again) == 2
    for one, other in zip(shown, again, strict=True):
        assert isinstance(other, Evidence) and one.states and other.states
        assert np.array_equal(one.states.values, other.states.values)
        assert (one.states.layer, one.states.site) == (other.states.layer, other.states.site)
        assert (one.prompt, one.greedy, one.samples, one.cost) == (
            other.prompt, other.greedy, other.samples, other.cost,
        )  # fmt: skip
        assert one.samples[0].log_normalisers


def test_a_call_is_told_from_others_by_all_that_its_reply_depends_on() -> None:
    calls = [
        Call("ask", ("hi",), {}),
        Call("retrieve", ("hi",), {}),
        Call("ask", ("hi", "hi"), {}),
        Call("ask", ("hi",), {"n": 2}),
        Call("ask", ([HumanMessage("hi"), AIMessage("x")],), {}),
        Call("ask", ([HumanMessage("hi"), HumanMessage("x")],), {}),
        Call("ask", ([AIMessage("hi")],), {}),
    ]
    assert len({call.key for call in calls}) == len(calls)
    assert (
        Call("ask", ("hi",), {"n": 2, "k": 1}).key
        == Call("ask", ([HumanMessage("hi")],), {"k": 1, "n": 2}).key
    )
    notes, door = Notes(), Door(ScriptedChat(lambda prompt: "x"))
    with hung_up(notes):
        door.ask("hi", stop=["a"], seed=1, top_logprobs=2, logprobs=False)
        door.ask("hi", stop=["b"], seed=1)
        door.ask("hi", seed=2, stop=["b"])
        door.sample(["hi"], 2, temperature=0.5)
        door.sample(["hi"], 2, temperature=0.6)
        door.sample(["hi"], 2, temperature=0.6, greedy=False)
    assert len({call.key for call, *_ in notes.packed}) == 6  # a sample's two requests are one call


# Runs.


def test_a_run_is_played_again_without_model_and_retriever(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 6)
    graph = retrieve_then_read(ScriptedChat(script), Odd())
    first = run(arm(graph), QuestionSet(dataset), tmp_path / "e", record=tmp_path / "t")
    silent = retrieve_then_read(ScriptedChat([]), StandInRetriever())
    again = run(arm(silent), QuestionSet(dataset), tmp_path / "f", replay=tmp_path / "t")
    assert outcomes(again) == outcomes(first)  # the seconds, too, are those of then
    assert (tmp_path / "t" / "retrieve_then_read" / "journal.jsonl").is_file()


def test_equal_prompts_of_one_question_are_played_in_their_order(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 4)
    lock, asked = threading.Lock(), []

    def counted(prompt: str) -> str:
        if "Confidence" in prompt:
            return "Confidence: 60"
        with lock:
            asked.append(prompt)
            return f"#1: Who directed film 9?\n#2: Who directed film 9?\n{len(asked)}"

    prompts = {"decompose": "Divide {question}", "combine": "Combine {question} {pairs}"}
    how: dict[str, Any] = {"prompts": prompts, "confidence": "verbalised", "max_depth": 1}
    first = run(
        arm(self_dc(ScriptedChat(counted), Odd(), **how)),
        QuestionSet(dataset),
        tmp_path / "e",
        record=tmp_path / "t",
    )
    again = run(
        arm(self_dc(ScriptedChat([]), Odd(), **how)),
        QuestionSet(dataset),
        tmp_path / "f",
        replay=tmp_path / "t",
    )
    assert {name: each.output and each.output["cost"] for name, each in outcomes(again).items()} == {
        name: each.output and each.output["cost"] for name, each in outcomes(first).items()
    }
    assert again.tally.failed == 0


def test_a_question_that_failed_fails_again_in_the_same_words(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 6)
    first = ask(ScriptedChat(failing_at(3)), dataset, tmp_path / "e", record=tmp_path / "t")
    assert first.tally.failed == 1
    again = ask(ScriptedChat([]), dataset, tmp_path / "f", replay=tmp_path / "t")
    assert outcomes(again) == outcomes(first)
    mended = ask(ScriptedChat(script), dataset, tmp_path / "e", record=tmp_path / "t", retry_failed=True)
    again = ask(ScriptedChat([]), dataset, tmp_path / "g", replay=tmp_path / "t")
    assert (outcomes(again), again.tally.failed) == (outcomes(mended), 0)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 4)
    ask(ScriptedChat(script), dataset, tmp_path / "e", record=tmp_path / "t")
    other = direct_of(ScriptedChat([]), prompts={"answer_directly": "Now: {question}"})
    with pytest.raises(KnowwhenError) as missing:
        run(other, QuestionSet(dataset), tmp_path / "f", replay=tmp_path / "t")
    assert "question q0: ask 'Now: Who directed film 0?' (temperature=0.1" in str(missing.value)
    assert "is not recorded; replay with the settings and prompts of then" in str(missing.value)
    assert "\n" not in str(missing.value)
    assert not outcomes_of(tmp_path / "f")  # a missing call is no failed question

    more = write_dataset(tmp_path / "more.jsonl", 5)
    with pytest.raises(KnowwhenError, match="holds no reply for question q4; record it, or replay"):
        ask(ScriptedChat([]), more, tmp_path / "g", replay=tmp_path / "t")
    with pytest.raises(KnowwhenError, match="nowhere/direct holds no recording; give the folder of one"):
        ask(ScriptedChat([]), dataset, tmp_path / "h", replay=tmp_path / "nowhere")


def outcomes_of(out: Path) -> list[str]:
    return (out / "runs" / "direct" / "journal.jsonl").read_text().splitlines()[1:]


def test_a_run_begun_without_recording_cannot_be_recorded_from_the_middle(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 4)
    ask(ScriptedChat(script), dataset, tmp_path / "e")
    with pytest.raises(SettingsError, match=r"was begun without recording \(question q\d\); record in a run"):
        ask(ScriptedChat([]), dataset, tmp_path / "e", record=tmp_path / "t")


def test_another_model_than_the_recorded_one_is_refused(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 4)
    ask(ScriptedChat(script), dataset, tmp_path / "e", record=tmp_path / "t")
    other = arm(direct_of(ScriptedChat([])).method, model="pocket")
    with pytest.raises(SettingsError, match="was recorded with model 'ScriptedChat', which is now 'pocket'"):
        run(other, QuestionSet(dataset), tmp_path / "f", replay=tmp_path / "t")


# Stand-ins.


def test_a_stand_in_says_of_itself_what_the_model_said() -> None:
    noted = {
        "openai:gpt-4o": ModelRecord(
            described="ChatOpenAI (gpt-4o)",
            reports=(Capability.LOGPROBS, Capability.TEXT),
            weights="",
        )
    }
    with standing_in(noted, "tape"):
        model = resolve_model("openai:gpt-4o")  # without a key
        assert resolve_model("pocket") is pocket()
        assert isinstance(resolve_retriever("no such folder"), StandInRetriever)
        with (
            noting_models() as again,
            pytest.raises(SettingsError, match="tape was recorded with openai:gpt-4o, not"),
        ):
            assert resolve_model("openai:gpt-4o") and again == noted
            resolve_model("ollama:x")
    assert isinstance(model, StandInModel)
    assert (describe(model), capabilities(model)) == (
        "ChatOpenAI (gpt-4o)",
        {Capability.TEXT, Capability.LOGPROBS},
    )
    with pytest.raises(KnowwhenError, match="no model and no retriever is asked while a recording is played"):
        Door(model).ask("hi")
    with pytest.raises(SettingsError):
        resolve_retriever("no such folder")


# The command, with real models.


def knowwhen(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", "from knowwhen.cli import main; main()", "evaluate"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True)


def journals(out: Path) -> list[str]:
    (journal,) = (out / "runs").glob("*/journal.jsonl")
    return sorted(journal.read_text().splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["seakr", "keqa", "taikc"])
def test_every_kind_of_evidence_is_played_again(method: str, tmp_path: Path) -> None:
    command = ["--method", method, *SMALL]
    made = knowwhen(*command, "--out", tmp_path / "e", "--record", tmp_path / "t")
    assert made.returncode == 0, made.stderr
    states = (tmp_path / "t" / method / "states.npy").stat().st_size
    assert (states > 0) == (method == "seakr")
    played = knowwhen(*command, "--out", tmp_path / "f", "--replay", tmp_path / "t")
    assert played.returncode == 0, played.stderr
    assert journals(tmp_path / "f") == journals(tmp_path / "e")
    tables = [ended.stdout.rsplit("\n", 2)[0] for ended in (made, played)]  # below it, the report's place
    assert tables[0] == tables[1] and method in tables[0]


def test_neither_the_weights_nor_the_index_are_needed(tmp_path: Path) -> None:
    model, index = tmp_path / "model", tmp_path / "index"
    shutil.copytree(pocket().path, model)
    build(index, "Velo Taray directed it.")
    command = ["--method", "self_dc", *SMALL, "--model", f"transformers:{model}", "--corpus", index]
    made = knowwhen(*command, "--out", tmp_path / "e", "--record", tmp_path / "t")
    assert made.returncode == 0, made.stderr
    shutil.rmtree(model)
    shutil.rmtree(index)
    played = knowwhen(*command, "--out", tmp_path / "f", "--replay", tmp_path / "t")
    assert played.returncode == 0, played.stderr
    assert journals(tmp_path / "f") == journals(tmp_path / "e")
    told = recorded_origin(tmp_path / "t" / "self_dc")
    assert told.weights and told.passages


def test_recording_and_replaying_exclude_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--out", tmp_path / "e", "--record", tmp_path / "t", "--replay", tmp_path / "t"]
    monkeypatch.setattr(sys, "argv", ["knowwhen", "evaluate", *SMALL, *map(str, given)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "knowwhen: --record asks the model and --replay does not; give one of the two\n"
    )
