"""Labelling passages by what they do to answers: control flow by script, the whole by the pocket model."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from processes import started
from scripted import ScriptedChat

from knowwhen.cli import main
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.models.door import Door
from knowwhen.models.errors import KnowwhenError, RetrievalError, SettingsError
from knowwhen.models.pocket import pocket
from knowwhen.nodes import answer_directly, read_passages
from knowwhen.tools.reference import open_reference
from knowwhen.training.journal import open_journal
from knowwhen.training.reference import ReferenceSummary, build_reference, label_question, utility_of

KNOWWHEN = [sys.executable, "-c", "from knowwhen.cli import main; main()"]
FILES = ("manifest.json", "reference.jsonl", "vectors.faiss")


class Told(BaseRetriever):
    """Finds the same passages for every question, or fails."""

    texts: list[str]
    fails: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        if self.fails:
            raise OSError("the index is gone")
        return [
            Document(text, metadata={"id": f"p{number}", "title": f"T{number}"})
            for number, text in enumerate(self.texts, start=1)
        ]


FIVE = Told(texts=["noise", "half", "wrong", "whole", "more"])


def reader(prompt: str) -> str:
    """Right once it has read "whole", half right from "half", misled by "wrong"; knows nothing by itself."""
    if "wrong" in prompt:
        return "Zed"
    if "whole" in prompt:
        return " Velo Taray\n"
    return "Velo" if "half" in prompt else "nobody"


def asked(number: int) -> GoldQuestion:
    return GoldQuestion(f"q{number}", f"Who directed film {number}?", ("Velo Taray",))


def write_dataset(path: Path, count: int) -> Path:
    records = [
        {"id": each.id, "question": each.question, "golden_answers": each.golden_answers}
        for each in map(asked, range(count))
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "d.jsonl", 6)


def build(dataset: Path, out: Path, model: BaseChatModel | None = None, **given: Any) -> ReferenceSummary:
    return build_reference(
        dataset, out, **{"model": model or ScriptedChat(reader), "corpus": FIVE, "limit": 1000, **given}
    )


def made(out: Path) -> list[bytes]:
    return [(out / name).read_bytes() for name in FILES]


# One question.


def test_a_helpful_passage_stays_for_those_after_it_and_a_harmful_one_goes() -> None:
    model = ScriptedChat(reader)
    labels = label_question(Door(model, FIVE), asked(1), 5).labels
    assert [each.utility for each in labels] == [0, 1, -1, 1, 0]
    assert [each.already_helpful for each in labels] == [(), (), ("p2",), ("p2",), ("p2", "p4")]
    assert [(each.f1_without, each.f1_with) for each in labels] == [
        (0, 0),
        (0, pytest.approx(2 / 3)),
        (pytest.approx(2 / 3), 0),
        (pytest.approx(2 / 3), 1),
        (1, 1),
    ]
    assert [(each.answer_without, each.answer_with) for each in labels] == [
        ("nobody", "nobody"),
        ("nobody", "Velo"),
        ("Velo", "Zed"),
        ("Velo", "Velo Taray"),
        ("Velo Taray", "Velo Taray"),
    ]
    assert [(each.passage_id, each.rank, each.title) for each in labels] == [
        (f"p{number}", number, f"T{number}") for number in range(1, 6)
    ]
    assert {(each.question_id, each.question, each.golden_answers) for each in labels} == {
        ("q1", "Who directed film 1?", ("Velo Taray",))
    }


def test_it_is_asked_as_the_reader_asks_greedily() -> None:
    model = ScriptedChat(reader)
    done = label_question(Door(model, FIVE), asked(1), 3)

    def reading(*passages: str) -> str:
        text = "\n".join(f"[{place}] {passage}" for place, passage in enumerate(passages, start=1))
        return read_passages.PROMPT.format(question="Who directed film 1?", passages=text)

    assert model.prompts == [
        answer_directly.PROMPT.format(question="Who directed film 1?"),
        reading("T1: noise"),
        reading("T2: half"),
        reading("T2: half", "T3: wrong"),
    ]
    assert {call["temperature"] for call in model.calls} == {0.0}
    assert (done.cost["model_calls"], done.cost["retrievals"], done.cost["passages"]) == (4, 1, 3)


def test_without_passages_nothing_is_asked() -> None:
    model = ScriptedChat([])
    done = label_question(Door(model, Told(texts=[])), asked(1), 5)
    assert (done.labels, done.cost["model_calls"]) == ((), 0)


def test_shares_that_are_equal_but_for_rounding_are_equal() -> None:
    assert [utility_of(0.5, 0.5 + 1e-16), utility_of(1 / 3, 0.1 / 0.3), utility_of(0, 0)] == [0, 0, 0]
    assert [utility_of(0.5, 0.6), utility_of(0.6, 0.5), utility_of(0, 1e-3)] == [1, -1, 1]


# All questions.


def test_the_set_holds_what_changed_an_answer_and_the_journal_everything(
    dataset: Path, tmp_path: Path
) -> None:
    reports: list[tuple[int, int]] = []
    summary = build(dataset, tmp_path / "r", report=lambda done, total: reports.append((done, total)))
    assert summary == ReferenceSummary(
        questions=6, helpful=12, harmful=6, neutral=12, model_calls=36, failed=0, first_failure=""
    )
    assert reports == [(done, 6) for done in range(7)]
    reference = open_reference(tmp_path / "r")
    assert [each.question_id for each in reference.records] == [f"q{n}" for n in range(6) for _ in range(3)]
    assert reference.manifest.origin.model == "ScriptedChat"
    header, *lines = (tmp_path / "r" / "journal.jsonl").read_text().splitlines()
    assert json.loads(header)["origin"] == reference.manifest.origin.model_dump()
    kept = [label for line in lines for label in json.loads(line)["labels"]]
    assert len(kept) == 30
    for label in kept:  # every label can be followed to its two answers
        told = label["already_helpful"]
        texts = [FIVE.texts[int(name[1:]) - 1] for name in told]
        assert label["answer_without"] == reader(" ".join(texts)).strip()
        assert label["answer_with"] == reader(" ".join([*texts, label["text"]])).strip()


def test_a_finished_set_is_made_again_without_asking(dataset: Path, tmp_path: Path) -> None:
    first = build(dataset, tmp_path / "r")
    files = made(tmp_path / "r")
    silent = ScriptedChat([])
    assert build(dataset, tmp_path / "r", silent) == first
    assert (silent.prompts, made(tmp_path / "r")) == ([], files)


def test_more_questions_ask_only_the_new_ones(dataset: Path, tmp_path: Path) -> None:
    build(dataset, tmp_path / "r", limit=2)
    more = ScriptedChat(reader)
    build(dataset, tmp_path / "r", more, limit=5)
    assert len(more.prompts) == 3 * 6
    build(dataset, tmp_path / "whole", limit=5)
    assert made(tmp_path / "r") == made(tmp_path / "whole")
    build(dataset, tmp_path / "r", ScriptedChat([]), limit=2)
    build(dataset, tmp_path / "small", limit=2)
    assert made(tmp_path / "r") == made(tmp_path / "small")


def test_questions_are_asked_side_by_side_within_the_bound(tmp_path: Path) -> None:
    model = ScriptedChat(reader, delay=0.01)
    build(write_dataset(tmp_path / "d.jsonl", 40), tmp_path / "r", model)
    assert 4 <= model.most_in_flight <= 16


def failing_at(*numbers: int) -> Callable[[str], str | Exception]:
    """The reader, but for questions that its server refuses when they are read with the second passage."""

    def script(prompt: str) -> str | Exception:
        refused = any(f"film {number}?" in prompt for number in numbers)
        return ValueError("refused by the filter") if refused and "half" in prompt else reader(prompt)

    return script


def test_a_question_that_fails_is_left_out_and_asked_again(dataset: Path, tmp_path: Path) -> None:
    summary = build(dataset, tmp_path / "r", ScriptedChat(failing_at(2, 4)))
    assert (summary.questions, summary.failed, summary.helpful) == (4, 2, 8)
    assert summary.first_failure.startswith(("q2: ScriptedChat failed", "q4: ScriptedChat failed"))
    assert "refused by the filter" in summary.first_failure
    assert {each.question_id for each in open_reference(tmp_path / "r").records} == {"q0", "q1", "q3", "q5"}
    again = ScriptedChat(reader)
    assert build(dataset, tmp_path / "r", again).failed == 0
    assert len(again.prompts) == 12
    build(dataset, tmp_path / "whole")
    assert made(tmp_path / "r") == made(tmp_path / "whole")


def test_a_search_that_fails_is_reported_too(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(KnowwhenError, match=r"6 questions failed .*Told .*the index is gone.*; run again"):
        build(dataset, tmp_path / "r", corpus=Told(texts=[], fails=True))
    assert not (tmp_path / "r" / "manifest.json").exists()


def test_a_server_that_is_down_is_not_asked_all_questions(tmp_path: Path) -> None:
    model = ScriptedChat(lambda prompt: ValueError("down"))
    with pytest.raises(KnowwhenError, match="10 questions failed one after the other, the last was q"):
        build(write_dataset(tmp_path / "d.jsonl", 500), tmp_path / "r", model)
    assert len(model.prompts) < 10 + 16  # those that failed and those under way beside the last of them


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": ScriptedChat(reader, name="x", reports=frozenset())}, None),
        ({"model": "pocket"}, "begun with model 'ScriptedChat', which is now 'pocket'"),
        ({"corpus": "almanac"}, "begun with corpus 'Told', which is now 'almanac'"),
        ({"passages": 4}, "begun with passages 5, which is now 4"),
        ({"seed": 3, "limit": 3}, None),
    ],
)
def test_settings_that_make_other_labels_are_refused(
    dataset: Path, tmp_path: Path, given: dict[str, Any], said: str | None
) -> None:
    build(dataset, tmp_path / "r")
    files = made(tmp_path / "r")
    if said is None:
        build(dataset, tmp_path / "r", **given)
        return
    with pytest.raises(SettingsError) as refused:
        build(dataset, tmp_path / "r", **given)
    assert said in str(refused.value)
    assert str(refused.value).endswith("go on with what it was begun with, or begin anew in another folder")
    assert made(tmp_path / "r") == files


def test_another_dataset_is_refused(dataset: Path, tmp_path: Path) -> None:
    build(dataset, tmp_path / "r")
    renamed = shutil.copy(dataset, tmp_path / "e.jsonl")
    with pytest.raises(SettingsError, match=r"begun with dataset 'd.jsonl', which is now 'e.jsonl'"):
        build(Path(renamed), tmp_path / "r")
    dataset.write_text(dataset.read_text().replace("Velo Taray", "Velo"))
    with pytest.raises(SettingsError, match="question q0 was another one, or had other answers, when"):
        build(dataset, tmp_path / "r")


def test_prompts_that_changed_are_refused(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(dataset, tmp_path / "r")
    monkeypatch.setattr(read_passages, "PROMPT", read_passages.PROMPT + " ")
    with pytest.raises(SettingsError, match="was begun with prompts '"):
        build(dataset, tmp_path / "r")


def test_a_model_that_was_trained_anew_is_another_one(dataset: Path, tmp_path: Path) -> None:
    from knowwhen.models.transformers_chat import (
        ChatTransformers,
    )  # brings torch, which the children need not

    copy = Path(shutil.copytree(pocket().path, tmp_path / "model"))
    model = ChatTransformers(path=str(copy))
    build(dataset, tmp_path / "r", model, corpus=Told(texts=[]))  # without passages, it is not asked
    build(dataset, tmp_path / "r", model, corpus=Told(texts=[]))
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    with pytest.raises(SettingsError, match="was begun with weights '"):
        build(dataset, tmp_path / "r", model, corpus=Told(texts=[]))


@pytest.mark.parametrize("given", [{"limit": 0}, {"passages": 0}])
def test_numbers_out_of_range_are_refused(dataset: Path, tmp_path: Path, given: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="limit and passages must be at least 1"):
        build(dataset, tmp_path / "r", **given)


def test_an_empty_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowwhenError, match=r"d.jsonl holds no question; give a dataset that does"):
        build(write_dataset(tmp_path / "d.jsonl", 0), tmp_path / "r")


# The folder and its journal.


def test_one_process_at_a_time(dataset: Path, tmp_path: Path) -> None:
    build(dataset, tmp_path / "r")
    with (
        open_journal(tmp_path / "r", open_reference(tmp_path / "r").manifest.origin),
        pytest.raises(KnowwhenError, match="is in use by another process; wait for it to end"),
    ):
        build(dataset, tmp_path / "r")


def test_a_folder_of_something_else_is_refused(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    for name, content in {"thesis.md": "years", "manifest.json": "{}", "journal.jsonl": "Dear diary"}.items():
        (tmp_path / "r" / name).write_text(content)
        with pytest.raises(
            KnowwhenError, match=f"holds {name}, which is no reference set's; choose an empty"
        ):
            build(dataset, tmp_path / "r")
        (tmp_path / "r" / name).unlink()
    assert list((tmp_path / "r").iterdir()) == []
    with pytest.raises(KnowwhenError, match=r"d.jsonl is a file; choose another place"):
        build(dataset, dataset)


def test_a_set_that_came_without_its_journal_may_be_replaced(dataset: Path, tmp_path: Path) -> None:
    build(dataset, tmp_path / "r", limit=1)
    (tmp_path / "r" / "journal.jsonl").unlink()
    assert build(dataset, tmp_path / "r").questions == 6


def test_wherever_the_journal_was_cut_off_it_goes_on(dataset: Path, tmp_path: Path) -> None:
    build(dataset, tmp_path / "whole")
    journal = (tmp_path / "whole" / "journal.jsonl").read_bytes()
    lines = journal.splitlines(keepends=True)
    for cut in (
        0,
        1,
        20,
        len(lines[0]) - 1,
        len(lines[0]),
        len(lines[0]) + 30,
        len(journal) - 1,
        len(journal),
    ):
        out = tmp_path / f"cut {cut}"
        out.mkdir()
        (out / "journal.jsonl").write_bytes(journal[:cut])
        model = ScriptedChat(reader)
        build(dataset, out, model)
        finished = max(0, journal[:cut].count(b"\n") - 1)
        assert len(model.prompts) == 6 * (6 - finished)
        assert made(out) == made(tmp_path / "whole")
        assert len((out / "journal.jsonl").read_bytes()) == len(journal)


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        (0, b'{"format": "knowwhen reference journal"}', "journal.jsonl:1 is damaged; begin anew in another"),
        (
            0,
            b'{"format": "knowwhen reference journal", "version": 2, "origin": {}}',
            "a journal of format 2,",
        ),
        (
            2,
            b'{"question_id": "q1"}',
            "journal.jsonl:3 is damaged; delete the line, and its question is asked",
        ),
        (2, b"\0" * 50, "journal.jsonl:3 is damaged"),
    ],
)
def test_a_damaged_journal_is_refused_in_one_line(
    dataset: Path, tmp_path: Path, line: int, instead: bytes, said: str
) -> None:
    build(dataset, tmp_path / "r")
    lines = (tmp_path / "r" / "journal.jsonl").read_bytes().splitlines()
    lines[line] = instead
    (tmp_path / "r" / "journal.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(KnowwhenError) as refused:
        build(dataset, tmp_path / "r", ScriptedChat([]))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


# Each answer takes 20 ms; what was asked is told on stdout.
CHILD = """
import sys
from pathlib import Path
from test_train_reference import *

def script(prompt):
    print(prompt.split("film ")[1].split("?")[0], flush=True)
    return reader(prompt)

LIMIT
build(Path(sys.argv[1]), Path(sys.argv[2]), ScriptedChat(script, delay=0.02))
"""


def child(limit: str = "") -> list[str]:
    here = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})"
    return [sys.executable, "-c", here + CHILD.replace("LIMIT", limit)]


def wait_for_lines(path: Path, count: int, process: "subprocess.Popen[str]") -> None:
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def test_killed_in_the_middle_it_goes_on_and_asks_nothing_finished_twice(tmp_path: Path) -> None:
    dataset, out = write_dataset(tmp_path / "d.jsonl", 200), tmp_path / "r"
    with started(
        [*child(), str(dataset), str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_for_lines(out / "journal.jsonl", 20, process)
        process.send_signal(signal.SIGKILL)
    with pytest.raises(RetrievalError, match="is incomplete, its building was interrupted; go on with"):
        open_reference(out)
    lines = (out / "journal.jsonl").read_bytes().split(b"\n")[1:-1]
    finished = {json.loads(line)["question"] for line in lines}
    assert 19 <= len(finished) < 200
    model = ScriptedChat(reader)
    build(dataset, out, model)
    assert not [question for question in finished if any(question in prompt for prompt in model.prompts)]
    assert len(model.prompts) == 6 * (200 - len(finished))
    build(dataset, tmp_path / "whole")
    assert made(out) == made(tmp_path / "whole")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX limits")
def test_a_disk_that_is_full_is_one_line_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    dataset, out = write_dataset(tmp_path / "d.jsonl", 30), tmp_path / "r"
    # A file may not grow beyond 20 kB: the kernel refuses the write as it does on a full disk.
    limit = (
        "import resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    )
    ended = subprocess.run([*child(limit), str(dataset), str(out)], capture_output=True, text=True)
    assert ended.stderr.strip().splitlines()[-1] == (
        f"knowwhen.models.errors.KnowwhenError: {out / 'journal.jsonl'} could not be written: File too "
        "large; make room and run again, every finished question is kept"
    )
    finished = (out / "journal.jsonl").read_bytes().count(b"\n") - 1
    assert 5 <= finished < 30
    model = ScriptedChat(reader)
    build(dataset, out, model)
    assert len(model.prompts) == 6 * (30 - finished)
    build(dataset, tmp_path / "whole")
    assert made(out) == made(tmp_path / "whole")


# The command, with the pocket model and the almanac.

SMALL = ["--dataset", "almanac", "--limit", "20", "--passages", "2"]


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_the_command_goes_on(tmp_path: Path) -> None:
    command = [*KNOWWHEN, "train", "reference", *SMALL, "--out", str(tmp_path / "r")]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_lines(tmp_path / "r" / "journal.jsonl", 4, process)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert error.endswith("knowwhen: stopped\n")
    finished = (tmp_path / "r" / "journal.jsonl").read_bytes().count(b"\n") - 1
    assert 3 <= finished < 20

    ended = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "20 of 20 questions" in ended.stderr
    told = json.loads(ended.stdout)
    assert told["reference"] == str(tmp_path / "r")
    assert (told["questions"], told["model_calls"], told["failed"]) == (20, 20 * 3, 0)
    assert told["helpful"] + told["harmful"] + told["neutral"] == 20 * 2

    whole = build_reference("almanac", tmp_path / "whole", limit=20, passages=2)
    assert whole.as_json() == {name: value for name, value in told.items() if name != "reference"}
    assert made(tmp_path / "r") == made(tmp_path / "whole")

    # The labels say what they should: a fact's own passage helps a model that does not know the fact.
    reference = open_reference(tmp_path / "r")
    own = [each for each in reference.records if each.title in each.question and each.utility == 1]
    assert len(own) >= 3
    for each in own:
        assert each.f1_with > each.f1_without
        found = reference.nearest(each.question, each.title, each.text)
        assert found[-1] == each


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
        sys, "argv", ["knowwhen", "train", "reference", "--dataset", dataset, "--out", "made/r"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    out, error = capsys.readouterr()
    assert (ended.value.code, out) == (status, "")
    assert error.startswith("knowwhen: ") and error.count("\n") == 1
    assert said in error
    assert not Path("made").exists()
