"""What the pocket model knows, reads, splits and says of its own sureness, in wordings it never met.

Run without arguments to measure the package's model, or with the folder of another one.
"""

import json
import random
import sys

from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score

from knowwhen.almanac.questions import KINDS, Asker, knowledge
from knowwhen.almanac.splits import questions_of
from knowwhen.almanac.world import default_world, make_world
from knowwhen.evaluation.metrics import exact_match
from knowwhen.models.door import Door
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes import answer_directly, decompose, score_confidence
from knowwhen.training.examples import Example, Examples
from knowwhen.uncertainty.probability import mean_probability
from knowwhen.uncertainty.verbalised import verbalised

BARS = {
    "direct, known single facts": (">=", 0.95),
    "direct, unknown single facts": ("<=", 0.10),
    "gold passage among three, own world": (">=", 0.95),
    "gold passage among three, unseen worlds": (">=", 0.90),
    "decompositions": (">=", 0.95),
    "AUROC of mean token probability": (">=", 0.85),
    "AUROC of stated confidence": (">=", 0.80),
}
READINGS, SPLITTINGS = 300, 40


def ask(door: Door, prompt: str, **keywords: bool) -> str:
    return door.ask(prompt, temperature=0, max_tokens=96, **keywords).text.strip()


def right(door: Door, examples: list[Example]) -> float:
    """The share of examples whose first turn the model answers exactly."""
    first = [example[0] for example in examples]
    return sum(exact_match(ask(door, prompt or ""), [answer]) for prompt, answer in first) / len(first)


def readings(own: bool) -> list[Example]:
    examples = Examples(random.Random(f"reading {own}"), held_out=True)
    if own:
        examples.elsewhere = Asker(default_world(), examples.rng, held_out=True)
    drawn = []
    for i in range(READINGS):
        if not own and i % 10 == 0:
            examples.turn_page()
        drawn.append(examples.read(passages=3))
    return drawn


def decompositions(door: Door) -> dict[str, float]:
    """The share of questions of each kind whose parts are exactly the gold ones, in an unseen world."""
    asker = Asker(make_world(4711), random.Random("splitting"), held_out=True)
    shares = {}
    for kind in KINDS:
        questions = list(asker.many(kind, SPLITTINGS))
        hits = 0
        for question in questions:
            parts = decompose.read_parts(ask(door, decompose.PROMPT.format(question=question.question)))
            hits += parts == list(question.parts)
        shares[kind] = hits / len(questions)
    return shares


def sureness(door: Door) -> dict[str, float]:
    """Direct answers to the test split, and how well two confidences tell the right ones from the wrong."""
    world = default_world()
    rows = []
    for question in questions_of(world, "test", {"test": 100}):
        reply = door.ask(
            answer_directly.PROMPT.format(question=question.question),
            logprobs=True,
            temperature=0,
            max_tokens=96,
        )
        hit = exact_match(reply.text, question.answers)
        probability = mean_probability([t.logprob for t in (reply.token_logprobs or ((),))[0]]) or 0.0
        told = verbalised(ask(door, score_confidence.PROMPT.format(question=question.question)))
        rows.append((question.kind, knowledge(question, world), hit, probability, told or 0.0, told is None))
    single = [row for row in rows if row[0] == "one_hop"]

    def share(known: str) -> float:
        hits = [row[2] for row in single if row[1] == known]
        return sum(hits) / len(hits)

    return {
        "direct, known single facts": share("known"),
        "direct, unknown single facts": share("unknown"),
        "AUROC of mean token probability": roc_auc_score([r[2] for r in single], [r[3] for r in single]),
        "AUROC of stated confidence": roc_auc_score([r[2] for r in single], [r[4] for r in single]),
        "AUROC of mean token probability, all kinds": roc_auc_score(
            [r[2] for r in rows], [r[3] for r in rows]
        ),
        "AUROC of stated confidence, all kinds": roc_auc_score([r[2] for r in rows], [r[4] for r in rows]),
        "replies that state no confidence": sum(r[5] for r in rows) / len(rows),
        "single-fact questions": len(single),
        "questions of all kinds": len(rows),
    }


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    door = Door(resolve_model(f"transformers:{folder}" if folder else "pocket"))
    figures: dict[str, float] = sureness(door)
    figures["gold passage among three, own world"] = right(door, readings(own=True))
    figures["gold passage among three, unseen worlds"] = right(door, readings(own=False))
    by_kind = decompositions(door)
    figures["decompositions"] = sum(by_kind.values()) / len(by_kind)
    examples = Examples(random.Random("other tasks"), held_out=True)
    for name in ("combine", "read_background", "read_chain", "thought"):
        figures[f"task {name}"] = right(door, [examples.tasks[name]() for _ in range(100)])
    table = Table("figure", "bar", "measured")
    for name, measured in figures.items():
        bar = "{} {:.2f}".format(*BARS[name]) if name in BARS else ""
        table.add_row(name, bar, f"{measured:.3f}" if isinstance(measured, float) else str(measured))
    Console().print(table)
    print(json.dumps({**figures, "decompositions by kind": by_kind}))


if __name__ == "__main__":
    main()
