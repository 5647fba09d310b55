"""`knowwhen calibrate`: from records and from the pocket model, to thresholds that `ask` takes."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.cli import main
from knowwhen.evaluation.calibration.recorders.keqa import clustered
from knowwhen.evaluation.calibration.recording import RECORDS, Recording, record_dataset
from knowwhen.evaluation.calibration.records import Attempt, Record, read_records, write_records
from knowwhen.evaluation.calibration.replays.replay import Gauge
from knowwhen.evaluation.calibration.replays.self_dc import replay_self_dc
from knowwhen.evaluation.datasets import read_dataset
from knowwhen.evaluation.journal import JOURNAL
from knowwhen.evaluation.metrics import exact_match
from knowwhen.graphs import self_dc, taikc
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.uncertainty.judge import Judged
from knowwhen.uncertainty.thresholds import read_thresholds

GREEDY = {"temperature": 0.0}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["knowwhen", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return run


def recorded(folder: Path, number: int = 60, **scores: Any) -> str:
    """Questions of which the unsure half is right only when looked up."""
    records = (
        Record(
            id=str(n),
            question=f"q{n}",
            golden_answers=("x",),
            closed_book=Attempt(
                answer="x" if n % 2 else "y", scores=scores or {"probability": (n % 2) / 2 + n / 1000}
            ),
            open_book=(Attempt(answer="x", tokens=50),),
        )
        for n in range(number)
    )
    write_records(records, folder / "r.jsonl")
    return str(folder / "r.jsonl")


def test_records_give_thresholds_a_curve_a_plot_and_a_verdict(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    status, shown, _ = run(
        "calibrate", "--records", recorded(tmp_path), "--method", "taikc", "--max-retrievals", "0.6",
        "--model", "gpt-4o", "--out", str(out),
    )  # fmt: skip
    assert status == 0 and "The gate gains" in shown and "at most 0.6 retrievals a question" in shown
    found = read_thresholds(out)
    assert 0.058 <= found.thresholds["threshold"] <= 0.6
    assert found.settings == {"estimator": "probability", "boundary": "estimator"}
    assert (found.model.name, found.found_on.questions, found.found_on.metric) == ("gpt-4o", 60, "f1")
    assert found.found_on.budget["max_retrievals"] == 0.6
    assert found.found_on.expected["retrievals"][0] == pytest.approx(0.5, abs=0.1)
    assert (
        (tmp_path / "t.curve.csv")
        .read_text()
        .startswith("gate,threshold,quality,retrievals,tokens,on_front\n")
    )
    assert (tmp_path / "t.curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_target_is_met_and_kept_in_the_file(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    status, shown, _ = run(
        "calibrate", "--records", recorded(tmp_path), "--method", "taikc", "--retrievals", "0.3",
        "--model", "gpt-4o", "--out", str(out),
    )  # fmt: skip
    assert status == 0 and "taikc by probability, 0.3 retrievals a question: threshold" in shown
    # 1.96 √(2/60) s / 0.3, where s = √(0.3 · 0.7 · 60/59): .5513
    assert "retrievals can be expected within ±56 % of 0.30, 19 of 20 times" in " ".join(shown.split())
    assert read_thresholds(out).found_on.budget["retrievals"] == 0.3
    assert "No thresholds" not in shown
    few = recorded(tmp_path, verbalised=0.5)
    _, shown, _ = run("calibrate", "--records", few, "--method", "taikc", "--retrievals", "0.6")
    assert "No thresholds come near 0.6 retrievals a question; the nearest take 1.00." in shown


def test_json_is_one_object_with_what_was_found(run: Run, tmp_path: Path) -> None:
    _, shown, _ = run(
        "calibrate", "--records", recorded(tmp_path), "--two-stages", "--retrieval-price", "0.1", "--json"
    )
    told = json.loads(shown)
    assert (told["method"], told["estimator"], told["questions"]) == ("self_dc", "probability", 60)
    assert told["thresholds"]["alpha"] in [n / 10 for n in range(1, 10)]
    assert (told["never"]["quality"], told["always"]["retrievals"]) == (0.5, 1.0)
    assert told["verdict"].startswith("The gate gains")
    assert (told["unmet"], told["precision"]["retrievals"]) == ("", told["expected"]["retrievals"]["value"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give either --dataset to ask a model, or --records"),
        (["--records", "R", "--dataset", "almanac"], "give either --dataset"),
        (["--dataset", "almanac"], "--dataset needs --out"),
        (["--records", "R", "--out", "t.json"], "name that of the records with --model"),
        (["--records", "R", "--method", "direct"], "'direct' has no gate to calibrate"),
        (["--records", "R", "--metric", "bleu"], "there is no metric 'bleu'"),
        (["--records", "R", "--method", "seakr", "--two-stages"], "the two stages are Self-DC's"),
        (["--records", "R", "--estimator", "verbalised"], "no score 'verbalised'; its scores: probability"),
        (["--records", "R", "--estimator", "mine"], "whether 'mine' is a confidence"),
        (["--records", "R", "--kind", "x"], "--kind is confidence or uncertainty"),
        (["--records", "R", "--retrievals", ".5", "--max-retrievals", ".5"], "--retrievals is a target"),
        (["--records", "R", "--folds", "61"], "60 questions cannot be cut into 61 folds"),
        (["convert", "probtree", "R", "--out", "x"], "probtree takes one file, and --gold"),
        (["convert", "seakr", "R", "--out", "x"], "seakr takes three files"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_line(run: Run, tmp_path: Path, arguments: list[str], words: str) -> None:
    file = recorded(tmp_path)
    status, shown, said = run("calibrate", *(file if each == "R" else each for each in arguments))
    assert status == 2 and words in said and shown == ""
    assert said.startswith("knowwhen: ") and said.count("\n") == 1


def test_scores_of_a_users_own_kind_are_taken(run: Run, tmp_path: Path) -> None:
    records = recorded(tmp_path)
    text = Path(records).read_text().replace('"probability":', '"mine":')
    Path(records).write_text(text)
    arguments = ("calibrate", "--records", records, "--method", "seakr", "--max-retrievals", "0.5", "--json")
    quality = {
        kind: json.loads(run(*arguments, "--kind", kind)[1])["expected"]["quality"]["value"]
        for kind in ("confidence", "uncertainty")
    }
    assert quality["confidence"] > 0.9 and quality["uncertainty"] < 0.6


def record(folder: Path, method: str, limit: int, **settings: Any) -> Recording:
    return record_dataset("almanac:calibration", method, folder, limit=limit, settings=settings, seed=1)


def test_a_recording_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    record(tmp_path / "r", "taikc", 2, **GREEDY)
    before = (tmp_path / "r" / JOURNAL).read_bytes()
    done: list[tuple[int, int]] = []
    went_on = record_dataset(
        "almanac:calibration", "taikc", tmp_path / "r", limit=4, settings=GREEDY, seed=1,
        report=lambda *numbers: done.append(numbers),
    )  # fmt: skip
    assert done[0] == (2, 4) and done[-1] == (4, 4)
    journal = (tmp_path / "r" / JOURNAL).read_bytes()
    assert journal.startswith(before) and journal.count(b"\n") == 5
    assert list(read_records(tmp_path / "r" / RECORDS)) == went_on.records
    assert went_on.left_out > 0 and {each.metadata["hops"] for each in went_on.records} == {1}
    with pytest.raises(SettingsError, match="was begun with settings"):
        record(tmp_path / "r", "taikc", 4)


def test_what_is_recorded_of_taikc_is_what_it_does(tmp_path: Path) -> None:
    recording = record(tmp_path / "r", "taikc", 3, **GREEDY)
    for each in recording.records:
        score = each.closed_book.scores["probability"]
        assert score is not None
        for threshold, taken in ((score - 1e-6, each.closed_book), (score + 1e-6, each.open_book[0])):
            output = taikc("pocket", boundary="estimator", threshold=threshold, **GREEDY).invoke(
                {"question": each.question}
            )
            assert output["answer"] == taken.answer
            assert (output["cost"]["retrievals"] > 0) == (taken is each.open_book[0])


def test_the_replay_of_a_recorded_tree_is_what_self_dc_does(tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    kinds = {"intersection": 1, "one_hop": 1}
    with file.open("w") as out:
        for question in read_dataset("almanac:calibration"):
            if kinds.get(question.metadata["kind"], 0):
                kinds[question.metadata["kind"]] -= 1
                line = {"id": question.id, "question": question.question}
                out.write(json.dumps(line | {"golden_answers": question.golden_answers}) + "\n")
    recording = record_dataset(file, "self_dc", tmp_path / "r", settings=GREEDY)
    assert any(each.parts for each in recording.records)
    bands = [{"alpha": a, "beta": b} for a, b in ((0.0, 0.0), (0.5, 0.5), (0.9, 0.08), (1.0, 0.5))]
    for each in recording.records:
        for band in bands:
            output = self_dc("pocket", **GREEDY, **band).invoke({"question": each.question})
            told = each.model_copy(update={"golden_answers": (output["answer"],)})
            replay = replay_self_dc([told], Gauge("probability", "confidence"), exact_match, [band])
            assert replay.gated.quality[0, 0] == 1, band
            assert replay.gated.retrievals[0, 0] == output["cost"]["retrievals"], band
            spent = output["cost"]["input_tokens"] + output["cost"]["output_tokens"]
            assert replay.gated.tokens[0, 0] == spent, band


def test_keqa_and_seakr_are_recorded(tmp_path: Path) -> None:
    (one,) = record(tmp_path / "k", "keqa", 1, tries=3).records
    assert one.samples is not None and len(one.samples.answers) == 3 and one.retrievals >= 1
    recording = record(tmp_path / "s", "seakr", 1, samples=3, estimator="consistency")
    (one,) = recording.records
    assert one.retrievals >= 1 and list(one.closed_book.scores) == [recording.recorder.estimator]


def test_a_dataset_without_a_suitable_question_is_refused(tmp_path: Path) -> None:
    line = {"id": "1", "question": "q", "golden_answers": ["a"], "metadata": {"hops": 2}}
    (tmp_path / "d.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(KnowwhenError, match="holds no question of one fact, by which keqa is calibrated"):
        record_dataset(tmp_path / "d.jsonl", "keqa", tmp_path / "r")


def begins_like(question: str, pairs: Sequence[tuple[str, str]]) -> Judged:
    """A judge that is neither symmetric nor transitive: the later answer begins with the earlier one."""
    return Judged(tuple(float(later.startswith(first)) for later, first in pairs))


@given(
    st.lists(st.sampled_from(["June", "June 10", "June 10, 1982", "June 11", "I do not know"]), max_size=7)
)
def test_answers_are_clustered_as_algorithm_1_does(answers: list[str]) -> None:
    clusters: list[list[int]] = []
    for place, answer in enumerate(answers):
        if answer == "I do not know":
            continue
        for cluster in clusters:
            first = answers[cluster[0]]
            if answer == first or answer.startswith(first):
                cluster.append(place)
                break
        else:
            clusters.append([place])
    wanted = [
        next((n for n, cluster in enumerate(clusters) if place in cluster), None)
        for place in range(len(answers))
    ]
    assert list(clustered("when?", tuple(answers), begins_like)[0]) == wanted
