"""SeaKR on the almanac's test split, against looking every step up and looking nothing up.

First its threshold is found on the calibration split: steps of reasoning whose facts so far are the gold
ones, right if the step is the gold one. Run without arguments to measure the package's model, or with the
folder of another one.
"""

import json
import random
import sys
from collections.abc import Iterator
from statistics import mean
from typing import Any

from arms import answered, table_of
from rich.console import Console
from rich.progress import track
from sklearn.metrics import roc_auc_score

from knowwhen.almanac.rationales import rationales
from knowwhen.almanac.splits import questions_of
from knowwhen.almanac.world import default_world
from knowwhen.evaluation.best_threshold import best_threshold
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


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    model = f"transformers:{folder}" if folder else "pocket"
    asked = list(questions_of(default_world(), "test"))
    questions = random.Random("questions").sample(asked, QUESTIONS)
    figures: dict[str, Any] = {"questions": len(questions), **calibrated(model)}
    figures["arms"] = {}
    for name, arm in ARMS.items():
        graph = seakr(model, demonstrations=(), threshold=figures["threshold"], **arm)
        figures["arms"][name] = answered(name, graph, questions)
    columns = (
        "exact match",
        "f1",
        "retrievals",
        "model calls",
        "sequences",
        "median seconds",
        "most seconds",
    )
    Console().print(table_of(figures["arms"], columns))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
