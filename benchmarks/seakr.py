"""SeaKR on the almanac's test split, against looking every step up and looking nothing up.

First its threshold is found on the calibration split: steps of reasoning whose facts so far are the gold
ones, right if the step is the gold one. Run without arguments to measure the package's model, or with the
folder of another one.
"""

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from statistics import mean, median
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.metrics import roc_auc_score

from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.almanac.rationales import rationales
from knowwhen.almanac.splits import questions_of
from knowwhen.almanac.world import default_world
from knowwhen.evaluation.calibration import best_threshold
from knowwhen.evaluation.metrics import exact_match, f1
from knowwhen.graphs import seakr
from knowwhen.models.door import Door
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes.think import as_prompt
from knowwhen.uncertainty.resolve import resolve_estimator
from knowwhen.uncertainty.weighing import weigh

STEPS, QUESTIONS = 400, 160
SAMPLING: dict[str, Any] = {"temperature": 1.0, "top_k": 50, "top_p": 0.9, "max_tokens": 32, "stop": ["\n"]}
ARMS = {
    "SeaKR": {},
    "always retrieve": {"retrieval": "always"},
    "never retrieve": {"retrieval": "never"},
    "SeaKR, first passage": {"rerank": "first"},
    "SeaKR, rationales only": {"reasoning": "rationales"},
    "SeaKR, knowledge only": {"reasoning": "knowledge"},
    "SeaKR, one hop": {"hops": "one"},
}


def steps() -> Iterator[tuple[str, str]]:
    """Prompts for steps of the calibration split, and the gold step of each."""
    asked = list(questions_of(default_world(), "calibration"))
    rng = random.Random("steps")
    for question in rng.sample(asked, STEPS):
        gold = rationales(question)
        done = rng.randrange(len(gold))
        yield as_prompt(question.question, gold[:done]), gold[done]


def calibrated(model: str) -> dict[str, float]:
    """The threshold, and how well the scores tell right steps from wrong ones."""
    door, estimator = Door(resolve_model(model)), resolve_estimator("gram:seakr")
    values, right = [], []
    for prompt, gold in track(list(steps()), "threshold", console=Console(stderr=True)):
        (weighed,) = weigh(door, estimator, [prompt], **SAMPLING)
        if weighed.score is not None:
            values.append(weighed.score.value)
            right.append(weighed.answer.text.strip() == gold)
    return {
        "threshold": best_threshold(values, right, "uncertainty"),
        "steps right": mean(right),
        "steps AUROC": float(roc_auc_score(right, [-value for value in values])),
    }


def answered(model: str, threshold: float, questions: list[AlmanacQuestion], **arm: Any) -> dict[str, Any]:
    # The questions one after the other, as a user waits for each.
    graph = seakr(model, demonstrations=(), threshold=threshold, **arm)
    kinds: dict[str, list[float]] = defaultdict(list)
    rows: list[dict[str, float]] = []
    for question in track(questions, str(arm or "SeaKR"), console=Console(stderr=True)):
        began = time.perf_counter()
        output = graph.invoke({"question": question.question})
        seconds = time.perf_counter() - began
        hit = exact_match(output["answer"], question.answers)
        kinds[question.kind].append(hit)
        rows.append(
            {
                "exact match": hit,
                "f1": f1(output["answer"], question.answers),
                "retrievals": output["cost"]["retrievals"],
                "model calls": output["cost"]["model_calls"],
                "sequences": output["cost"]["sequences"],
                "seconds": seconds,
            }
        )
    figures: dict[str, Any] = {name: mean(row[name] for row in rows) for name in rows[0] if name != "seconds"}
    figures["median seconds"] = median(row["seconds"] for row in rows)
    figures["most seconds"] = max(row["seconds"] for row in rows)
    figures["by kind"] = {kind: mean(hits) for kind, hits in kinds.items()}
    return figures


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    model = f"transformers:{folder}" if folder else "pocket"
    asked = list(questions_of(default_world(), "test"))
    questions = random.Random("questions").sample(asked, QUESTIONS)
    figures: dict[str, Any] = {"questions": len(questions), **calibrated(model)}
    figures["arms"] = {
        name: answered(model, figures["threshold"], questions, **arm) for name, arm in ARMS.items()
    }
    columns = (
        "exact match",
        "f1",
        "retrievals",
        "model calls",
        "sequences",
        "median seconds",
        "most seconds",
    )
    table = Table("arm", *columns)
    for name, row in figures["arms"].items():
        table.add_row(name, *(f"{row[column]:.2f}" for column in columns))
    Console().print(table)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
