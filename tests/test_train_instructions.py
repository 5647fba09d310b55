"""What is kept of a teacher's answers: by script what each step says, and the whole by the pocket model."""

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from processes import started
from scripted import ScriptedChat
from typer.testing import CliRunner

from knowwhen.cli import app
from knowwhen.evaluation.datasets import read_dataset
from knowwhen.graphs.taikc import taikc
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.pocket import pocket
from knowwhen.nodes import confident_qa, direct_qa, make_tree, read_chains, read_if_there, summarise_chain
from knowwhen.nodes.tree_demonstrations import DEFAULT, as_text
from knowwhen.training.instructions import InstructionsSummary, build_instructions
from knowwhen.training.recording import Recorder
from knowwhen.training.turns import read_turns


class Told(BaseRetriever):
    """Finds one passage for every question, made of it."""

    def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        return [Document(f"all about: {query}", metadata={"id": "p1", "title": "T"})]


def tree(number: int) -> str:
    return json.dumps(
        {
            "query1": {
                "question": f"Who directed Film {number}?",
                "children": {"query2": {"question": "When was #query1 born?"}},
            },
            "query3": {"question": f"Who directed Song {number}?"},
        }
    )


def begins(prompt: str, template: str) -> bool:
    """Whether a prompt is made from a template, by the words before its first place."""
    return prompt.startswith(template.partition("{")[0])


def teacher(prompt: str) -> str:
    """Knows the directors of films, reads those of songs, and finds no year, which it then remembers.

    It is right about even numbers and half right about odd ones; number 4's tree is no tree, and one of
    number 6's summaries drops a name.
    """
    number = int(re.findall(r"(?:Film|Song|Ada|Bo) (\d+)", prompt)[-1])
    if begins(prompt, make_tree.PROMPT):
        return "I would rather not." if number == 4 else f" {tree(number)}\n"
    if begins(prompt, summarise_chain.PROMPT):
        if "Film" in prompt:
            return f"Ada {number} directed it and was born in 1950."
        return "Somebody did." if number == 6 else f"Bo {number}\ndirected Song {number}."
    asked = prompt.rpartition("Question: ")[2]
    if "older" in asked:
        return f"Ada {number}" if number % 2 == 0 else f"Ada {number} Olan"
    if begins(prompt, confident_qa.PROMPT):
        return f"Ada {number}" if "Film" in asked else "RAG_REQUIRED"
    if begins(prompt, direct_qa.PROMPT):
        return "1950"
    return f" Bo {number} " if "Song" in asked else "The passages do not mention it."


def question(number: int) -> str:
    return f"Who is older, the director of Film {number} or of Song {number}?"


def write_dataset(path: Path, *numbers: int) -> Path:
    records = [{"id": f"q{n}", "question": question(n), "golden_answers": [f"Ada {n}"]} for n in numbers]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def build(dataset: Path | str, out: Path, model: Any = None, **given: Any) -> InstructionsSummary:
    return build_instructions(
        dataset, out, **{"model": model or ScriptedChat(teacher), "corpus": Told(), **given}
    )


def kept(out: Path) -> list[tuple[str, str, str]]:
    return [(turn.question_id, turn.kind, turn.reply) for turn in read_turns(out)]


def test_steps_of_right_answers_are_kept_but_for_what_the_teacher_knew(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 1, 2, 3, 8)
    summary = build(dataset, tmp_path / "i")
    assert kept(tmp_path / "i") == [
        row
        for n in (2, 8)
        for row in (
            (f"q{n}", "decomposition", tree(n)),
            (f"q{n}", "question answering", f"Bo {n}"),
            (f"q{n}", "summarisation", f"Ada {n} directed it and was born in 1950."),
            (f"q{n}", "summarisation", f"Bo {n}\ndirected Song {n}."),
            (f"q{n}", "question answering", f"Ada {n}"),
        )
    ]
    assert (summary.questions, summary.right, summary.all.number, summary.failed) == (4, 2, 10, 0)
    numbers = (summary.decomposition.number, summary.question_answering.number, summary.summarisation.number)
    assert numbers == (2, 4, 4)
    assert summary.unit == "words"
    assert (summary.summarisation.output_length, summary.question_answering.output_length) == (7.0, 2.0)
    # tree, three times Confident QA, two readings, Direct QA, two summaries and the last reading
    assert summary.model_calls == 4 * 10


def test_prompts_are_kept_as_they_were_sent(tmp_path: Path) -> None:
    build(write_dataset(tmp_path / "d.jsonl", 2), tmp_path / "i")
    divided, read, *_, last = [turn.prompt for turn in read_turns(tmp_path / "i")]
    assert divided == make_tree.PROMPT.format(question=question(2), demonstrations=as_text(DEFAULT))
    passages = "[1] T: all about: Who directed Song 2?"
    assert read == read_if_there.PROMPT.format(question="Who directed Song 2?", passages=passages)
    chains = "[1] Ada 2 directed it and was born in 1950.\n[2] Bo 2 directed Song 2."
    assert last == read_chains.PROMPT.format(question=question(2), passages=chains)


def test_what_a_right_answer_did_not_come_from_is_left_out(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 4, 6)
    summary = build(dataset, tmp_path / "i")
    assert summary.right == 2
    by_question = {name: [row[1:] for row in kept(tmp_path / "i") if row[0] == name] for name in ("q4", "q6")}
    assert by_question["q4"] == [("question answering", "Ada 4")]  # looked up whole
    assert [kind for kind, _ in by_question["q6"]] == [
        "decomposition",
        "question answering",
        "summarisation",
        "question answering",
    ]
    assert "Somebody did." not in str(by_question["q6"])


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_node_that_asked_is_known_also_in_nested_graphs(asynchronous: bool) -> None:
    method = taikc(ScriptedChat(teacher), Told())
    recorder = Recorder()
    asked: Any = {"question": question(2)}
    if asynchronous:
        output = asyncio.run(method.ainvoke(asked, {"callbacks": [recorder]}))
    else:
        output = method.invoke(asked, {"callbacks": [recorder]})
    assert output["answer"] == "Ada 2"
    counts = {"make_tree": 1, "confident_qa": 3, "read_if_there": 2, "direct_qa": 1, "summarise_chain": 2}
    assert Counter(each.node for each in recorder.exchanges) == {**counts, "read_chains": 1}
    for each in recorder.exchanges:
        assert each.reply == teacher(each.prompt)


def test_two_questions_at_once_are_not_mixed_up(tmp_path: Path) -> None:
    model = ScriptedChat(teacher, delay=0.005)
    build(write_dataset(tmp_path / "d.jsonl", *range(2, 40)), tmp_path / "i", model)
    assert model.most_in_flight > 4
    for turn in read_turns(tmp_path / "i"):
        number = turn.question_id.removeprefix("q")
        assert set(re.findall(r"(?:Film|Song|Ada|Bo) (\d+)", turn.prompt.rpartition("last")[2][-300:])) == {
            number
        }


def test_what_is_finished_is_not_asked_again_and_a_failure_is(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 2, 8, 10)

    def broken(prompt: str) -> str | Exception:
        refused = begins(prompt, summarise_chain.PROMPT) and "Film 8" in prompt
        return ValueError("refused") if refused else teacher(prompt)

    first = build(dataset, tmp_path / "i", ScriptedChat(broken))
    assert (first.questions, first.failed) == (2, 1)
    assert first.first_failure.startswith("q8: ScriptedChat failed")
    again = ScriptedChat(teacher)
    assert build(dataset, tmp_path / "i", again).questions == 3
    assert len(again.prompts) == 10
    build(dataset, tmp_path / "whole")
    assert kept(tmp_path / "i") == kept(tmp_path / "whole")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "pocket"}, "begun with model 'ScriptedChat', which is now 'pocket'"),
        ({"corpus": "almanac"}, "begun with corpus 'Told', which is now 'almanac'"),
        ({"settings": {"passages": 4}}, "begun with settings passages None, which is now 4"),
        ({"settings": {"passage": 4}}, "there is no setting 'passage'"),
        ({"limit": 0}, "limit must be at least 1"),
    ],
)
def test_settings_that_make_other_steps_are_refused(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 2)
    build(dataset, tmp_path / "i")
    with pytest.raises(SettingsError, match=re.escape(said)):
        build(dataset, tmp_path / "i", **given)


def test_a_teacher_that_was_tuned_since_is_another_one(tmp_path: Path) -> None:
    dataset, copy = (
        write_dataset(tmp_path / "d.jsonl", 2),
        Path(shutil.copytree(pocket().path, tmp_path / "m")),
    )
    model = f"transformers:{copy}"
    build(dataset, tmp_path / "i", model)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    with pytest.raises(SettingsError, match="was begun with weights '"):
        build(dataset, tmp_path / "i", model)


def test_another_kind_of_journal_is_refused(tmp_path: Path) -> None:
    from knowwhen.training.boundary import build_boundary

    dataset = write_dataset(tmp_path / "d.jsonl", 2)
    build_boundary(dataset, tmp_path / "b", model=ScriptedChat(teacher))
    with pytest.raises(
        KnowwhenError, match=r"holds boundary.jsonl, which is no instruction set's; choose an"
    ):
        build(dataset, tmp_path / "b")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(KnowwhenError, match=r"empty.jsonl holds no question; give a dataset that does"):
        build(tmp_path / "empty.jsonl", tmp_path / "c")


# Each answer takes 10 ms.
CHILD = """
import sys
from pathlib import Path
from test_train_instructions import *

build(Path(sys.argv[1]), Path(sys.argv[2]), ScriptedChat(teacher, delay=0.01))
"""


def test_killed_in_the_middle_it_goes_on_to_the_same_set(tmp_path: Path) -> None:
    dataset, out = write_dataset(tmp_path / "d.jsonl", *range(8, 88)), tmp_path / "i"
    journal = out / "journal.jsonl"
    here = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})"
    command = [sys.executable, "-c", here + CHILD, str(dataset), str(out)]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 6:
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGKILL)
    finished = journal.read_bytes().count(b"\n") - 1
    assert 5 <= finished < 80
    model = ScriptedChat(teacher)
    build(dataset, out, model)
    assert len(model.prompts) == 10 * (80 - finished)
    build(dataset, tmp_path / "whole")
    assert (out / "instructions.jsonl").read_bytes() == (
        tmp_path / "whole" / "instructions.jsonl"
    ).read_bytes()


def test_the_command_with_the_pocket_model_as_teacher(tmp_path: Path) -> None:
    command = ["train", "instructions", "--dataset", "almanac:train", "--model", "pocket", "--limit", "12"]
    ended = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "i"), "--json", "--set", "passages=3"])
    assert ended.exit_code == 0, ended.output
    assert "12 of 12 questions" in ended.stderr
    told = json.loads(ended.stdout)
    assert (told["questions"], told["failed"], told["unit"]) == (12, 0, "tokens")
    turns = read_turns(tmp_path / "i")
    assert told["all"]["number"] == len(turns) > 0
    golds = {each.id: each.golden_answers for each in read_dataset("almanac:train")}
    journal = [json.loads(line) for line in (tmp_path / "i" / "journal.jsonl").read_text().splitlines()[1:]]
    right = {each["question_id"] for each in journal if each["answer"] in golds[each["question_id"]]}
    assert right <= {each["question_id"] for each in journal if each["f1"] == 1.0}
    assert {turn.question_id for turn in turns} <= {e["question_id"] for e in journal if e["f1"] == 1.0}
    assert all(each["exchanges"] for each in journal)
    table = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "i"), "--set", "passages=3"])
    assert table.exit_code == 0, table.output
    assert f"{told['right']} of 12 questions right" in table.stdout
