"""Published runs as records: their replay gives the published figures."""

import json
from pathlib import Path

import pytest

from knowwhen.evaluation.calibration.recordings.probtree import SCORE, probtree_records
from knowwhen.evaluation.calibration.recordings.seakr import run_lengths, seakr_records
from knowwhen.evaluation.calibration.records import Record
from knowwhen.evaluation.calibration.replays.gate import replay_gate
from knowwhen.evaluation.calibration.replays.replay import Gauge
from knowwhen.evaluation.calibration.replays.self_dc import replay_self_dc
from knowwhen.evaluation.datasets import GoldQuestion, read_dataset
from knowwhen.evaluation.metrics import contains, exact_match, f1
from knowwhen.models.errors import KnowwhenError

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "data" / "recorded"
PROBTREE = RECORDED / "probtree_hotpotqa.json"
GOLD = RECORDED / "probtree_hotpotqa_gold.jsonl"  # FlashRAG's JSONL; the run itself has no gold answers
SEAKR = [RECORDED / f"seakr_nq_{name}" for name in ("direct.jsonl", "rag.jsonl", "gold.json")]
BAND = [{"alpha": 0.85, "beta": 0.1}]
here = pytest.mark.skipif(not RECORDED.is_dir(), reason="the recorded runs are not here")


def with_stand_ins() -> list[Record]:
    """The run, with its own last answers for gold ones."""
    trees = json.loads(PROBTREE.read_text(encoding="utf-8"))
    golds = [
        GoldQuestion(str(n), tree[-1]["question"], (tree[-1]["answer"][0],)) for n, tree in enumerate(trees)
    ]
    return list(probtree_records(PROBTREE, golds))


@here
def test_self_dc_on_probtrees_trees_looks_up_as_often_as_published() -> None:
    """A node within the band that has parts, even one, is answered from them; one without is looked up."""
    records = with_stand_ins()
    replay = replay_self_dc(records, Gauge(SCORE, "confidence"), exact_match, BAND)
    assert len(records) == 500
    assert replay.gated.retrievals.sum() == 752  # 1.50 a question
    assert replay.always.retrievals.mean() == 1
    confidences = [each.closed_book.scores[SCORE] or 0 for each in records]
    assert sum(each >= 0.95 for each in confidences) == 52
    divided = [
        0.75 < each < 0.95 and bool(record.parts) for each, record in zip(confidences, records, strict=True)
    ]
    assert sum(divided) == 406


@pytest.mark.skipif(not GOLD.is_file(), reason="the gold answers of the recorded run are not here")
def test_probtrees_run_gives_the_published_figures() -> None:
    records = list(probtree_records(PROBTREE, read_dataset(GOLD)))
    found = []
    for metric in (exact_match, f1):
        replay = replay_self_dc(records, Gauge(SCORE, "confidence"), metric, BAND)
        outcomes = (replay.never, replay.always, replay.gated)
        found.append([round(float(each.quality.mean()), 3) for each in outcomes])
    assert found == [[0.348, 0.496, 0.464], [0.467, 0.639, 0.598]]


@here
def test_seakrs_run_has_a_direct_answer_and_one_from_each_passage_for_every_question() -> None:
    records = list(seakr_records(*SEAKR))
    assert len(records) == 500
    assert sum(len(each.open_book) for each in records) == 7311
    assert all(1 <= len(each.open_book) <= 15 for each in records)
    first = records[0]
    assert (first.id, first.golden_answers) == ("single_nq_dev_6396", ("President Grover Cleveland",))
    assert first.open_book[-1].answer == "rutherford b" and len(first.open_book) == 15
    assert first.closed_book.scores["energy"] == -22.678125  # theirs points the other way
    # A passage holds the answer far oftener than where the runs are cut by their mean length.
    told = sum(any(contains(a.answer, each.golden_answers) for a in each.open_book) for each in records)
    flat = [attempt for each in records for attempt in each.open_book]
    cut = [flat[round(n * 7311 / 500) : round((n + 1) * 7311 / 500)] for n in range(500)]
    by_mean = sum(
        any(contains(a.answer, each.golden_answers) for a in group)
        for each, group in zip(records, cut, strict=True)
    )
    assert told >= 285 > by_mean
    replay = replay_gate(records, Gauge("gram", "uncertainty"), exact_match)
    assert replay.never.quality.mean() == pytest.approx(0.33)


def test_runs_end_where_the_answers_change() -> None:
    direct = ["red fox", "blue whale", "grey wolf"]
    sizes = [15, 11, 15]
    looked_up = [answer for answer, size in zip(direct, sizes, strict=True) for _ in range(size)]
    assert run_lengths(direct, looked_up) == sizes


def node(at: int, answer: str, logprob: float, sons: list[int]) -> dict[str, object]:
    told: dict[str, object] = {
        "idx": at,
        "question": f"Question {at}?",
        "sons": sons,
        "cb_answer": [answer, logprob],
        "ob_answer": [f"open {answer}", -0.1],
    }
    return told | ({"child_answer": [f"from parts {answer}", -0.2]} if sons else {})


def test_a_tree_keeps_its_own_parts_and_its_question_is_found_among_the_golds(tmp_path: Path) -> None:
    file = tmp_path / "trees.json"
    file.write_text(json.dumps([[node(0, "a", -0.5, []), node(1, "b", 0.0, []), node(2, "c", -100, [1, 0])]]))
    gold = GoldQuestion("x", "question 2", ("g", "h"))  # case and punctuation do not count
    (record,) = probtree_records(file, [gold])
    assert record.golden_answers == ("g", "h")
    assert [part.question for part in record.parts] == ["Question 1?", "Question 0?"]
    assert record.parts[0].closed_book.scores == {SCORE: 1.0}
    assert record.closed_book.scores[SCORE] == pytest.approx(0, abs=1e-40)
    assert [each.answer for each in record.combined] == ["from parts c"]
    with pytest.raises(
        KnowwhenError, match=r"1 of the 1 questions in .* have no gold answers, as 'Question 2"
    ):
        list(probtree_records(file, []))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no JSON"),
        ("[]", "is no list of ProbTree's trees"),
        ("[[]]", "tree 0 is no list of nodes"),
        (json.dumps([[node(0, "a", -1, [0])]]), "tree 0 is damaged"),
        (json.dumps([[node(0, "a", -1, [7])]]), "tree 0 is damaged"),
        (json.dumps([[{"question": "Question 0?", "sons": []}]]), "tree 0 is damaged"),
    ],
)
def test_a_damaged_recording_is_refused(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "trees.json").write_text(content)
    with pytest.raises(KnowwhenError, match=words):
        list(probtree_records(tmp_path / "trees.json", [GoldQuestion("x", "Question 0?", ("g",))]))
    with pytest.raises(KnowwhenError, match="cannot be read"):
        list(probtree_records(tmp_path / "none.json", []))


def test_seakrs_files_must_be_of_one_run(tmp_path: Path) -> None:
    line = json.dumps({"answer": "a", "perplexity": 1, "energy_score": 2, "ln_entropy": 3, "eigen_score": 4})
    for name, content in (
        ("direct", f"{line}\n"),
        ("rag", f"{line}\n" * 16),
        ("gold", '{"1": ["a"]}'),
        ("golds", '{"1": ["a"], "2": ["b"]}'),
        ("bad", f"{line}\n[]\n"),
        ("list", "[]"),
    ):
        (tmp_path / name).write_text(content)
    for names, words in (
        (("direct", "rag", "golds"), "2 questions, .* 1"),
        (("direct", "rag", "gold"), "16 lines, which are not 1 to 15 a question"),
        (("bad", "rag", "gold"), "bad:2: this is no answer of SeaKR's run"),
        (("direct", "direct", "list"), "is no JSON object"),
        (("none", "rag", "gold"), "none cannot be read"),
    ):
        with pytest.raises(KnowwhenError, match=words):
            list(seakr_records(*(tmp_path / name for name in names)))
