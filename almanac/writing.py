"""The almanac as files: its passages a line each, and its questions in FlashRAG's JSONL.

A line of `corpus.jsonl` has id, title, text and kind (main, stale or misleading). A line of
`questions-SPLIT.jsonl` has id, question, golden_answers and metadata, which holds the rest of what is known
of the question: see docs/almanac.md.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from knowwhen.almanac.folder import CORPUS, questions_file, unfinished
from knowwhen.almanac.passages import AlmanacPassage, corpus
from knowwhen.almanac.questions import AlmanacQuestion, knowledge, quadrant
from knowwhen.almanac.splits import SPLITS, Split, questions_of
from knowwhen.almanac.world import DEFAULT_SEED, Fact, World, default_world, make_world

Record = dict[str, object]


@dataclass(frozen=True)
class AlmanacCounts:
    """How much was written."""

    seed: int
    passages: dict[str, int]
    """By kind of passage."""
    questions: dict[Split, dict[str, dict[str, int]]]
    """By split, kind of question and quadrant."""

    def as_json(self) -> Record:
        """The same as plain JSON."""
        return asdict(self)


def write_almanac(folder: Path, seed: int = DEFAULT_SEED) -> AlmanacCounts:
    """Write the corpus and the questions of a seed's world to a folder, all or nothing.

    Args:
        folder: A new folder, an empty one, or an almanac's, which is replaced.
        seed: Any whole number; `DEFAULT_SEED` is the world whose past the pocket model has read.

    Raises:
        KnowwhenError: If `folder` is a file or holds anything else, cannot be written (no space left, no
            permission), or is being written by another process.
    """
    with unfinished(folder) as files:
        return write_files(world_of(seed), files)


def world_of(seed: int) -> World:
    """The world of a seed; the default one is made once."""
    return default_world() if seed == DEFAULT_SEED else make_world(seed)


def write_files(world: World, folder: Path) -> AlmanacCounts:
    """Write the corpus and the questions of a world into a folder that is there."""
    passages = list(corpus(world))
    _write(folder / CORPUS, map(_passage_record, passages))
    questions: dict[Split, dict[str, dict[str, int]]] = {}
    for split in SPLITS:
        asked = list(questions_of(world, split))
        records = (_question_record(q, world, split, number) for number, q in enumerate(asked))
        _write(folder / questions_file(split), records)
        questions[split] = _by_kind(asked, world)
    return AlmanacCounts(world.seed, dict(Counter(p.kind for p in passages)), questions)


def _passage_record(passage: AlmanacPassage) -> Record:
    return {"id": passage.id, "title": passage.title, "text": passage.text, "kind": passage.kind}


def _question_record(question: AlmanacQuestion, world: World, split: Split, number: int) -> Record:
    return {
        "id": f"almanac-{world.seed}-{split}-{number}",
        "question": question.question,
        "golden_answers": question.answers,
        "metadata": {
            "kind": question.kind,
            "hops": question.hops,
            "decomposition": question.decomposition,
            "parts": question.parts,
            "part_answers": question.part_answers,
            # An entity's own passage has its id and states all its facts.
            "supporting": list(dict.fromkeys(fact.subject.id for fact in question.facts)),
            "facts": [_fact_record(fact, world) for fact in question.facts],
            "knowledge": knowledge(question, world),
            "quadrant": quadrant(question, world),
            "split": split,
            "seed": world.seed,
            "cut_off": world.cut_off,
        },
    }


def _fact_record(fact: Fact, world: World) -> Record:
    return {
        "subject": fact.subject.name,
        "relation": fact.relation,
        "answer": fact.object,
        "since": fact.since,
        "knowledge": world.knowledge(fact.key),
    }


def _by_kind(questions: Iterable[AlmanacQuestion], world: World) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for question in questions:
        quadrants = counts.setdefault(question.kind, {})
        name = quadrant(question, world)
        quadrants[name] = quadrants.get(name, 0) + 1
    return counts


def _write(path: Path, records: Iterable[Record]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
