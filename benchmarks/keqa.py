"""KEQA on the almanac's test split: its verdicts, its utility labels, and its parts switched off.

- Verdicts: single facts in wordings that nothing was trained on; a quiz is known if T_c reaches α, and is to
  be if the model's greedy answer from memory is right.
- Utility: the passages found for the same facts; one is to be kept if it truly states the fact.
- The ablations of the paper's Table 1, over questions of all kinds, and vanilla RAG with ten passages and
  with three.

Run without arguments to measure the package's model; `--model` and `--reference` take others.
"""

import argparse
import json
import random
from collections import Counter
from typing import Any

from arms import SCREEN, answered, table_of
from rich.console import Console
from rich.progress import track
from rich.table import Table

from knowwhen.almanac.passages import corpus
from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.almanac.splits import questions_of
from knowwhen.almanac.world import default_world
from knowwhen.evaluation.metrics import exact_match
from knowwhen.graphs import direct, keqa, retrieve_then_read

SINGLE, LOOKED_UP, QUESTIONS = 200, 60, 60  # facts for verdicts and for utility; questions of all kinds
BARS = {"verdicts right": 0.9, "utility labels right": 0.9}
ARMS: dict[str, dict[str, Any]] = {
    "KEQA": {},
    "without QKE": {"assess": False},
    "without UKP": {"pick": False},
    "without R": {"shown": "none"},
    "random R": {"shown": "random"},
    "with SE": {"extract": True},
    "all quizzes, all passages": {"assess": False, "pick": False},
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


def verdicts(model: str, questions: list[AlmanacQuestion], **given: Any) -> dict[str, float]:
    """Known and unknown as the method says, against what the model answers from memory."""
    closed_book, method = direct(model, temperature=0.0), keqa(model, quizzes=False, pick=False, **given)
    counts: Counter[tuple[bool, bool]] = Counter()
    for question in track(questions, "verdicts", console=SCREEN):
        asked: Any = {"question": question.question}
        right = exact_match(closed_book.invoke(asked)["answer"], question.answers) == 1
        (step,) = method.invoke(asked)["steps"]
        counts[step["route"] == "confident", right] += 1
    total = sum(counts.values())
    return {
        "verdicts right": (counts[True, True] + counts[False, False]) / total,
        "known, right": counts[True, True] / total,
        "known, wrong": counts[True, False] / total,
        "unknown, right": counts[False, True] / total,
        "unknown, wrong": counts[False, False] / total,
    }


def utility(model: str, questions: list[AlmanacQuestion], **given: Any) -> dict[str, float]:
    """Passages kept and left out, against those that truly state the fact asked for."""
    states = {passage.id: set(passage.states) for passage in corpus(default_world())}
    method = keqa(model, quizzes=False, assess=False, **given)
    counts: Counter[tuple[bool, bool]] = Counter()
    for question in track(questions, "utility", console=SCREEN):
        asked: Any = {"question": question.question}
        (step,) = method.invoke(asked)["steps"]
        for id in step["details"]["retrieved"]:
            counts[id in step["details"]["kept"], question.facts[0].key in states[id]] += 1
    kept, holding = counts[True, True] + counts[True, False], counts[True, True] + counts[False, True]
    return {
        "utility labels right": (counts[True, True] + counts[False, False]) / sum(counts.values()),
        "of the kept, that state the fact": counts[True, True] / max(1, kept),
        "of those that state it, kept": counts[True, True] / max(1, holding),
        "share that state it": holding / sum(counts.values()),
    }


def main() -> None:
    """Measure, and print two tables and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--reference", help="folder of a reference set; default: the package's own")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    options = parser.parse_args()
    model, given = options.model, {"reference": options.reference}
    if model != "pocket":
        given["demonstrations"] = ()
    asked = list(questions_of(default_world(), "test"))
    single = [question for question in asked if question.kind == "one_hop"]
    single = random.Random("single").sample(single, SINGLE)
    questions = random.Random("questions").sample(asked, options.questions)

    figures: dict[str, Any] = {"facts": SINGLE, "facts looked up": LOOKED_UP, "questions": len(questions)}
    figures |= verdicts(model, single, **given) | utility(model, single[:LOOKED_UP], **given)
    methods = {name: keqa(model, **given, **arm) for name, arm in ARMS.items()}
    methods["vanilla RAG"] = keqa(model, **given, quizzes=False, assess=False, pick=False)
    methods["vanilla RAG, three passages"] = retrieve_then_read(model, temperature=0.0)
    figures["arms"] = {name: answered(name, method, questions) for name, method in methods.items()}

    table = Table("figure", "bar", "measured")
    for name in [name for name, value in figures.items() if isinstance(value, float)]:
        table.add_row(name, f"≥ {BARS[name]:.2f}" if name in BARS else "", f"{figures[name]:.3f}")
    Console(width=140).print(table, table_of(figures["arms"], COLUMNS))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
