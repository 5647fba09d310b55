"""Writing an almanac: files that read back as they were, all of them or none."""

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from almanac_reading import stated

from knowwhen.almanac import (
    SPLITS,
    AlmanacCounts,
    corpus,
    default_world,
    questions_of,
    unfinished,
    write_almanac,
)
from knowwhen.models.errors import KnowwhenError

FILES = ["corpus.jsonl", "questions-calibration.jsonl", "questions-test.jsonl", "questions-train.jsonl"]
WRITE = "import sys; from knowwhen.almanac import write_almanac; from pathlib import Path; "


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AlmanacCounts]:
    folder = tmp_path_factory.mktemp("almanac") / "deep" / "inside"
    return folder, write_almanac(folder)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def copy_of(written: tuple[Path, AlmanacCounts], folder: Path) -> Path:
    return shutil.copytree(written[0], folder / "almanac")


def test_the_corpus_reads_back_as_the_worlds_passages(written: tuple[Path, AlmanacCounts]) -> None:
    folder, counts = written
    passages = list(corpus(default_world()))
    expected = [{"id": p.id, "title": p.title, "text": p.text, "kind": p.kind} for p in passages]
    assert read(folder / "corpus.jsonl") == expected
    assert sum(counts.passages.values()) == len(passages)
    assert all(record["text"] for record in expected)


def test_the_questions_read_back_in_flashrags_form(written: tuple[Path, AlmanacCounts]) -> None:
    folder, counts = written
    ids = set()
    for split in SPLITS:
        records = read(folder / f"questions-{split}.jsonl")
        questions = list(questions_of(default_world(), split))
        assert sum(sum(each.values()) for each in counts.questions[split].values()) == len(questions)
        for record, question in zip(records, questions, strict=True):
            assert list(record) == ["id", "question", "golden_answers", "metadata"]
            assert record["question"] == question.question
            assert record["golden_answers"] == list(question.answers)
            metadata = record["metadata"]
            assert metadata["decomposition"] == list(question.decomposition)
            assert (metadata["parts"], metadata["part_answers"]) == (
                list(question.parts),
                list(question.part_answers),
            )
            told = [(fact["subject"], fact["relation"], fact["answer"]) for fact in metadata["facts"]]
            assert told == [(fact.subject.name, fact.relation, fact.object) for fact in question.facts]
            assert (metadata["kind"], metadata["hops"]) == (question.kind, question.hops)
            assert (metadata["split"], metadata["seed"], metadata["cut_off"]) == (split, 7, 2020)
            ids.add(record["id"])
    assert len(ids) == sum(len(read(folder / f"questions-{split}.jsonl")) for split in SPLITS)


def test_every_fact_of_every_question_is_stated_by_its_supporting_passages(
    written: tuple[Path, AlmanacCounts],
) -> None:
    folder, _ = written
    passages = {record["id"]: record for record in read(folder / "corpus.jsonl")}
    said = {
        identity: stated(record["text"], record["title"], default_world())
        for identity, record in passages.items()
        if record["kind"] == "main"
    }
    for split in SPLITS:
        for record in read(folder / f"questions-{split}.jsonl"):
            metadata = record["metadata"]
            needed = {(fact["subject"], fact["relation"], fact["answer"]) for fact in metadata["facts"]}
            assert needed <= set.union(*(said[identity] for identity in metadata["supporting"]))
            subjects = {passages[identity]["title"] for identity in metadata["supporting"]}
            assert subjects == {fact["subject"] for fact in metadata["facts"]}
            if metadata["kind"] == "one_hop":
                (identity,) = metadata["supporting"]
                assert record["golden_answers"][0] in passages[identity]["text"]


def test_a_fact_is_since_when_it_became_true_and_known_by_then_or_not(
    written: tuple[Path, AlmanacCounts],
) -> None:
    folder, _ = written
    for split in SPLITS:
        for record in read(folder / f"questions-{split}.jsonl"):
            metadata = record["metadata"]
            facts = metadata["facts"]
            for fact in facts:
                assert (fact["knowledge"] == "known") == (fact["since"] <= metadata["cut_off"])
            known = [fact["knowledge"] == "known" for fact in facts]
            word = "known" if all(known) else "mixed" if any(known) else "unknown"
            assert metadata["quadrant"] == f"{'simple' if len(facts) == 1 else 'compositional'} {word}"
            each = {fact["knowledge"] for fact in facts}
            assert metadata["knowledge"] == (each.pop() if len(each) == 1 else "mixed")


def test_the_same_seed_writes_the_same_bytes_in_any_process(
    tmp_path: Path, written: tuple[Path, AlmanacCounts]
) -> None:
    code = f"{WRITE} write_almanac(Path({str(tmp_path / 'again')!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONHASHSEED": "1"})
    assert contents(tmp_path / "again") == contents(written[0])


def test_another_seed_replaces_an_almanac_and_its_index_and_nothing_of_it_stays(
    tmp_path: Path, written: tuple[Path, AlmanacCounts]
) -> None:
    folder = copy_of(written, tmp_path)
    before = contents(folder)
    (folder / "index").mkdir()
    (folder / "index" / "manifest.json").write_text("of the old corpus")
    counts = write_almanac(folder, seed=8)
    after = contents(folder)
    assert sorted(after) == FILES
    assert all(after[name] != before[name] for name in FILES)
    assert counts.seed == 8


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", "mine"),
        ("corpus.jsonl", '{"id": "1", "contents": "my own corpus"}\n'),
        ("corpus.jsonl", ""),
        ("corpus.jsonl", "[]\n"),
        ("questions-test.jsonl", '{"id": "1", "question": "Mine?", "golden_answers": [], "metadata": {}}\n'),
        ("index/manifest.json", "{}"),
    ],
)
def test_a_folder_with_anything_else_in_it_is_refused_and_left_alone(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    with pytest.raises(KnowwhenError, match="is no almanac's") as refused:
        write_almanac(tmp_path)
    assert "\n" not in str(refused.value)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]
    assert (tmp_path / name).read_text() == text


def test_a_file_in_the_folders_place_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(KnowwhenError, match="taken is a file"):
        write_almanac(tmp_path / "taken")
    with pytest.raises(KnowwhenError, match="could not be written: Not a directory") as refused:
        write_almanac(tmp_path / "taken" / "below")
    assert "\n" not in str(refused.value)
    assert (tmp_path / "taken").read_text() == "mine"


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))  # the corpus fits, the questions do not


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_is_one_line_and_leaves_what_was_there(
    tmp_path: Path, written: tuple[Path, AlmanacCounts], there: bool
) -> None:
    folder = copy_of(written, tmp_path) if there else tmp_path / "almanac"
    before = contents(folder) if there else None
    code = f"{WRITE} write_almanac(Path({str(folder)!r}), 8)"
    ended = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=limited, capture_output=True, text=True, check=False
    )
    last = ended.stderr.splitlines()[-1]
    assert f"KnowwhenError: {folder} could not be written: File too large; make room" in last
    assert (contents(folder) if folder.exists() else None) == before


@pytest.mark.parametrize("there", [False, True])
def test_killed_while_writing_it_leaves_what_was_there_and_can_be_run_again(
    tmp_path: Path, written: tuple[Path, AlmanacCounts], there: bool
) -> None:
    folder = copy_of(written, tmp_path) if there else tmp_path / "almanac"
    before = contents(folder) if there else {}
    code = f"{WRITE} write_almanac(Path({str(folder)!r}), 8)"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while not list(folder.glob(".unfinished/almanac/questions-*.jsonl")):
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    visible = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".unfinished"}
    assert visible == before
    assert (folder / ".unfinished").exists()
    write_almanac(folder, 8)
    assert sorted(contents(folder)) == FILES
    assert read(folder / "questions-test.jsonl")[0]["metadata"]["seed"] == 8


def test_an_interrupt_leaves_no_new_folder(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), unfinished(tmp_path / "almanac") as files:
        (files / "corpus.jsonl").write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_two_cannot_write_the_same_almanac_at_once(tmp_path: Path) -> None:
    with unfinished(tmp_path / "almanac"):
        code = f"{WRITE} write_almanac(Path({str(tmp_path / 'almanac')!r}))"
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is being written by another process; wait for it to end" in ended.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
