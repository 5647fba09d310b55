"""Do calibrated thresholds hold what they promise? Ten times chosen on one half and measured on the other.

Two bars: retrievals of the held-out half within 15 % of the budget asked for, and F1 within the interval that
was promised, each in at least 9 of 10 splits. Measured on TAIKC's gate with the pocket model, where the
almanac's questions are asked anew, and on the recorded runs of real models where they are at hand.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from knowwhen.evaluation.calibration.budget import Budget
from knowwhen.evaluation.calibration.calibrate import calibrate_records
from knowwhen.evaluation.calibration.recording import record_dataset
from knowwhen.evaluation.calibration.recordings.probtree import SCORE, probtree_records
from knowwhen.evaluation.calibration.recordings.seakr import seakr_records
from knowwhen.evaluation.calibration.records import Record
from knowwhen.evaluation.calibration.search import search
from knowwhen.evaluation.datasets import read_dataset

QUESTIONS, SPLITS = 200, 10
NEAR = 0.15  # of the budget
BUDGETS = {"self_dc": (0.5, 1.0, 1.5), "seakr": (0.3, 0.5, 0.7), "taikc": (0.3, 0.5)}
RECORDED = Path(__file__).resolve().parents[2] / "shared" / "data" / "recorded"
PROBTREE = RECORDED / "probtree_hotpotqa.json"
GOLD = RECORDED / "probtree_hotpotqa_gold.jsonl"
Case = tuple[str, str, str, Sequence[Record]]  # its name, the method, the estimator, the records


def cases(folder: Path) -> Iterator[Case]:
    asked = record_dataset("almanac:calibration", "taikc", folder, limit=QUESTIONS)
    yield "pocket, almanac", "taikc", "probability", asked.records
    if RECORDED.is_dir():
        direct, passages, gold = (
            RECORDED / f"seakr_nq_{n}" for n in ("direct.jsonl", "rag.jsonl", "gold.json")
        )
        nq = list(seakr_records(direct, passages, gold))
        for estimator in ("gram", "perplexity", "mean_perplexity"):
            yield "Llama-3.1-8B, NQ", "seakr", estimator, nq
    if GOLD.is_file():
        yield "davinci-003, HotpotQA", "self_dc", SCORE, list(probtree_records(PROBTREE, read_dataset(GOLD)))


def held_out(case: Case, bound: float) -> dict[str, Any]:
    """Ten splits: what was promised by one half, and what the other gave."""
    name, method, estimator, records = case
    budget = Budget(max_retrievals=bound)
    near = kept = inside = 0
    used, quality = [], []
    whole = calibrate_records(records, method, budget, estimator=estimator)
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(records))
        half = len(records) // 2
        found = search(whole.replay.of(order[:half]), budget, seed=split)
        other = whole.replay.of(order[half:]).gated
        retrievals = float(other.retrievals[:, found.column].mean())
        worth = float(other.quality[:, found.column].mean())
        promised = found.expected
        near += abs(retrievals - bound) <= NEAR * bound
        kept += promised.retrievals.low <= retrievals <= promised.retrievals.high  # type: ignore[operator]
        inside += promised.quality.low <= worth <= promised.quality.high  # type: ignore[operator]
        used.append(retrievals)
        quality.append(worth)
    return {
        "run": name,
        "method": method,
        "estimator": estimator,
        "questions": len(records),
        "never_f1": float(whole.replay.never.quality.mean()),
        "always_f1": float(whole.replay.always.quality.mean()),
        "budget": bound,
        "retrievals": float(np.mean(used)),
        "f1": float(np.mean(quality)),
        "within_15_percent": near,
        "retrievals_as_promised": kept,
        "f1_as_promised": inside,
        "verdict": whole.verdict.partition(":")[0],
    }


def main() -> None:
    screen = Console(width=130)
    with tempfile.TemporaryDirectory() as folder:
        figures = [
            held_out(case, bound) for case in cases(Path(folder) / "records") for bound in BUDGETS[case[1]]
        ]
    table = Table("run", "estimator", title=f"held-out halves, {SPLITS} splits")
    for heading in (
        "never f1", "always f1", "budget", "retrievals", "f1", "within 15 %", "as promised", "f1 as promised",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    for each in figures:
        table.add_row(
            each["run"],
            each["estimator"],
            f"{each['never_f1']:.3f}",
            f"{each['always_f1']:.3f}",
            f"{each['budget']:.1f}",
            f"{each['retrievals']:.2f}",
            f"{each['f1']:.3f}",
            *(str(each[name]) for name in ("within_15_percent", "retrievals_as_promised", "f1_as_promised")),
        )
    screen.print(table)
    print(json.dumps({"splits": SPLITS, "calibrations": figures}))


if __name__ == "__main__":
    main()
