"""TAIKC on the almanac's test split: its trees, what it declines, and its parts switched off.

- Trees: questions of all kinds, in wordings that nothing was trained on; a tree is right if it has exactly
  the gold queries, each below the right one.
- Declines: single facts; Confident QA is right if it answers what Direct QA answers rightly, and declines
  what Direct QA gets wrong.
- The ablations of the paper's Table 3 and Table 8, over questions of all kinds, and by output probability
  with the threshold found on the calibration split.

Run without arguments to measure the package's model, or with the folder of another one.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from statistics import mean
from typing import Any

from arms import SCREEN, answered, table_of
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.metrics import roc_auc_score

from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.almanac.splits import questions_of
from knowwhen.almanac.world import default_world
from knowwhen.evaluation.best_threshold import best_threshold
from knowwhen.evaluation.metrics import exact_match
from knowwhen.graphs import retrieve_then_read, taikc
from knowwhen.models.door import Door
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes import answer_directly, confident_qa, make_tree
from knowwhen.nodes.question_tree import NoTree, read_tree
from knowwhen.training.tree_examples import nested
from knowwhen.uncertainty.resolve import resolve_estimator
from knowwhen.uncertainty.weighing import weigh

TREES, SINGLE, STEPS, QUESTIONS = 240, 300, 300, 160
BARS = {"trees right": 0.9, "declines right": 0.9}
ARMS: dict[str, dict[str, Any]] = {
    "TAIKC": {},
    "internal only": {"knowledge": "internal"},
    "external only": {"knowledge": "external"},
    "by output probability": {"boundary": "estimator"},
    "without continuation": {"continuation": False},
    "without summaries": {"summaries": False},
}
COLUMNS = (
    "exact match",
    "f1",
    "retrievals",
    "passages read",
    "model calls",
    "input tokens",
    "median seconds",
)


def single_facts(split: Any, count: int) -> list[AlmanacQuestion]:
    """Questions of one fact each, drawn at random."""
    asked = [question for question in questions_of(default_world(), split) if question.kind == "one_hop"]
    return random.Random("single").sample(asked, min(count, len(asked)))


def trees(door: Door, questions: list[AlmanacQuestion]) -> dict[str, Any]:
    """The share of right trees, over all and by kind."""
    kinds: dict[str, list[bool]] = defaultdict(list)
    for question in track(questions, "trees", console=SCREEN):
        reply = door.ask(
            make_tree.PROMPT.format(question=question.question, demonstrations=""),
            temperature=0,
            max_tokens=512,
        )
        # A single fact is its own only query.
        steps = question.decomposition if question.hops > 1 else (question.question,)
        gold = read_tree(json.dumps(nested(steps)), "")
        try:
            kinds[question.kind].append(read_tree(reply.text, "") == gold)
        except NoTree:
            kinds[question.kind].append(False)
    return {
        "trees right": mean(hit for hits in kinds.values() for hit in hits),
        "trees right by kind": {kind: mean(hits) for kind, hits in kinds.items()},
    }


def declines(door: Door, questions: list[AlmanacQuestion]) -> dict[str, float]:
    """Answered and declined, against what the model answers when asked directly."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for question in track(questions, "declines", console=SCREEN):
        replies = [
            door.ask(prompt.format(question=question.question), temperature=0, max_tokens=64).text
            for prompt in (answer_directly.PROMPT, confident_qa.PROMPT)
        ]
        right = exact_match(replies[0], question.answers) == 1
        counts[not confident_qa.declines(replies[1]), right] += 1
    total = sum(counts.values())
    return {
        "declines right": (counts[True, True] + counts[False, False]) / total,
        "answered, known": counts[True, True] / total,
        "answered, not known": counts[True, False] / total,
        "declined, known": counts[False, True] / total,
        "declined, not known": counts[False, False] / total,
    }


def calibrated(door: Door, questions: list[AlmanacQuestion]) -> dict[str, float]:
    """The threshold of the output probability, and how well it tells right answers from wrong ones."""
    estimator = resolve_estimator("probability")
    values, right = [], []
    for question in track(questions, "threshold", console=SCREEN):
        asked = answer_directly.PROMPT.format(question=question.question)
        (weighed,) = weigh(door, estimator, [asked], max_tokens=64)
        if weighed.score is not None:
            values.append(weighed.score.value)
            right.append(exact_match(weighed.answer.text, question.answers) == 1)
    return {
        "threshold": best_threshold(values, right, "confidence"),
        "output probability AUROC": float(roc_auc_score(right, values)),
    }


def main() -> None:
    """Measure, and print two tables and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", help="of another model than the package's")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    options = parser.parse_args()
    model = f"transformers:{options.folder}" if options.folder else "pocket"
    door = Door(resolve_model(model))
    asked = list(questions_of(default_world(), "test"))
    questions = random.Random("questions").sample(asked, options.questions)

    figures: dict[str, Any] = {
        "questions": len(questions),
        **trees(door, random.Random("trees").sample(asked, TREES)),
        **declines(door, single_facts("test", SINGLE)),
        **calibrated(door, single_facts("calibration", STEPS)),
    }
    arms = {}
    for name, arm in ARMS.items():
        given = {"threshold": figures["threshold"]} if arm.get("boundary") else {}
        arms[name] = answered(name, taikc(model, demonstrations=(), **arm, **given), questions)
    arms["retrieve then read, five passages"] = answered(
        "retrieve then read", retrieve_then_read(model, passages=5), questions
    )
    figures["arms"] = arms

    table = Table("figure", "bar", "measured")
    for name in [name for name, value in figures.items() if isinstance(value, float)]:
        table.add_row(name, f"≥ {BARS[name]:.2f}" if name in BARS else "", f"{figures[name]:.3f}")
    Console(width=140).print(table, table_of(arms, COLUMNS))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
