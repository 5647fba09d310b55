"""The estimators that a published run recorded point the way they say, as well as the document says."""

import json
import re
from pathlib import Path

import pytest

from knowwhen.evaluation.metrics import normalise
from knowwhen.uncertainty.resolve import ESTIMATORS

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT.parent / "shared" / "data" / "recorded"
COLUMNS = {  # what the run calls each, and its sign against ours
    "perplexity": ("perplexity", 1),
    "energy": ("energy_score", -1),
    "mean_perplexity": ("ln_entropy", 1),
    "gram": ("eigen_score", 1),
}


def auroc(scores: list[float], wrong: list[bool]) -> float:
    """How often a wrong answer has the higher score than a right one."""
    higher = [score for score, is_wrong in zip(scores, wrong, strict=True) if is_wrong]
    lower = [score for score, is_wrong in zip(scores, wrong, strict=True) if not is_wrong]
    wins = sum((one > other) + (one == other) / 2 for one in higher for other in lower)
    return wins / (len(higher) * len(lower))


@pytest.mark.skipif(not RECORDED.is_dir(), reason="the recorded runs are not here")
@pytest.mark.parametrize("name", COLUMNS)
def test_recorded_scores_tell_wrong_answers_as_well_as_the_document_says(name: str) -> None:
    lines = (RECORDED / "seakr_nq_direct.jsonl").read_text(encoding="utf-8").splitlines()
    golds = json.loads((RECORDED / "seakr_nq_gold.json").read_text(encoding="utf-8")).values()
    runs = [json.loads(line) for line in lines]
    wrong = [
        not any(normalise(gold) in normalise(run["answer"]) for gold in each)
        for run, each in zip(runs, golds, strict=True)
    ]
    column, sign = COLUMNS[name]
    assert ESTIMATORS[name].kind == "uncertainty"
    document = (ROOT / "docs" / "estimators.md").read_text(encoding="utf-8")
    section = document.partition("\n## On recorded runs\n")[2]  # the almanac's table has the same names
    told = re.search(rf"^\| `{name}(?::seakr)?`[^|]*\| (0\.\d+) \|", section, re.MULTILINE)
    assert told is not None
    assert auroc([sign * run[column] for run in runs], wrong) == pytest.approx(float(told[1]), abs=0.0005)
