"""Every estimator on the pocket model: how well it tells right direct answers from wrong ones, and its cost.

Asked are single facts of the almanac's test split, in wordings that nothing was trained on. Run without
arguments to measure the package's model, or with the folder of another one.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.metrics import roc_auc_score

from knowwhen.almanac.splits import questions_of
from knowwhen.almanac.world import default_world
from knowwhen.evaluation.metrics import exact_match
from knowwhen.models.door import Door
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes import answer_directly, score_confidence
from knowwhen.uncertainty.estimator import Estimator
from knowwhen.uncertainty.resolve import ESTIMATORS, NAMES, resolve_estimator
from knowwhen.uncertainty.score import EvidenceError

QUESTIONS, TIMED, K = 300, 15, 20
SAMPLING: dict[str, Any] = {"temperature": 1.0, "top_k": 50, "top_p": 0.9, "max_tokens": 16}
BARS = {"gram": 0.85, "perplexity": 0.85, "consistency": 0.85}


class Letters:
    """Texts as counts of their letter pairs and triples: an encoder that needs no download."""

    name = "letters"

    def queries(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """A row of counts for each text."""
        counts = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 3), n_features=512).transform(texts)
        return np.asarray(counts.todense())


def estimator(name: str, door: Door) -> Estimator:
    kind = ESTIMATORS[name.partition(":")[0]]
    own = {"k": K} if "k" in {field.name for field in fields(kind)} else {}  # type: ignore[arg-type]
    asks_itself = door if name == "yes_no" else None
    return resolve_estimator(name, door=asks_itself, encoder=Letters(), **own)


def prompts(name: str, questions: Sequence[str]) -> list[str]:
    """The direct prompt; stated confidence has a prompt of its own."""
    asked = score_confidence.PROMPT if name == "verbalised" else answer_directly.PROMPT
    return [asked.format(question=question) for question in questions]


def needed(estimate: Estimator) -> dict[str, Any]:
    return estimate.needs.sampling() | SAMPLING | {"greedy": estimate.needs.greedy or not estimate.needs.k}


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    door = Door(resolve_model(f"transformers:{folder}" if folder else "pocket"))
    asked = list(questions_of(default_world(), "test", {"test": 100}))[:QUESTIONS]
    questions = [question.question for question in asked]
    direct = [
        each
        for question in questions
        for each in door.sample(prompts("direct", [question]), 0, **(SAMPLING | {"max_tokens": 24}))
    ]
    right = [
        exact_match(each.greedy.text if each.greedy else "", question.answers) == 1
        for each, question in zip(direct, asked, strict=True)
    ]
    rows: dict[str, dict[str, float]] = {}
    for name in track(NAMES, "estimators", console=Console(stderr=True)):
        estimate = estimator(name, door)
        scores, seconds, unsure = [], [], 0
        worst = -np.inf if estimate.kind == "confidence" else np.inf
        for at, prompt in enumerate(prompts(name, questions)):
            began = time.perf_counter()
            (evidence,) = door.sample([prompt], **needed(estimate))
            try:
                scores.append(estimate.score(evidence).value)
            except EvidenceError:
                scores.append(worst)
                unsure += 1
            if at < TIMED:
                seconds.append(time.perf_counter() - began)
        finite = [score for score in scores if np.isfinite(score)]
        floor = (min if estimate.kind == "confidence" else max)(finite, default=0.0)
        told = [score if np.isfinite(score) else floor for score in scores]
        sign = 1 if estimate.kind == "confidence" else -1
        rows[name] = {
            "auroc": float(roc_auc_score(right, [sign * score for score in told])),
            "answers": estimate.needs.k + int(needed(estimate)["greedy"]) + (name == "yes_no"),
            "milliseconds": 1000 * median(seconds),
            "no score": unsure,
        }
    greedy = rows["perplexity"]["milliseconds"]
    table = Table("estimator", "AUROC", "bar", "answers sampled", "time, perplexity = 1", "without a score")
    for name, row in rows.items():
        row["time ratio"] = row["milliseconds"] / greedy
        bar = f">= {BARS[name]:.2f}" if name in BARS else ""
        table.add_row(
            name, f"{row['auroc']:.3f}", bar, f"{row['answers']:.0f}", f"{row['time ratio']:.1f}",
            f"{row['no score']:.0f}",
        )  # fmt: skip
    Console().print(table)
    figures: dict[str, Any] = {"questions": len(asked), "right": sum(right) / len(right), "estimators": rows}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
