"""Questions with their gold answers: FlashRAG's JSONL, or the almanac's own.

A line is an object with `id`, `question`, `golden_answers` and, where there is more to know, `metadata`.
"""

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from knowwhen.almanac.questions import quadrant
from knowwhen.almanac.splits import SPLITS, Split, questions_of
from knowwhen.almanac.world import World, default_world
from knowwhen.evaluation.datasets.skipped import Skipped, report
from knowwhen.models.errors import KnowwhenError, SettingsError

ALMANACS: dict[str | Path, Split] = {"almanac": "train", **{f"almanac:{split}": split for split in SPLITS}}
"""Datasets of the world that the pocket model has read of, by name."""


@dataclass(frozen=True)
class GoldQuestion:
    """A question and the answers that count as right."""

    id: str
    question: str
    golden_answers: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


def read_dataset(
    dataset: str | Path, kind: str | None = None, skipped: Skipped | None = None
) -> Iterator[GoldQuestion]:
    """The questions of a dataset, one after the other, never all at once.

    Args:
        dataset: a file of FlashRAG's JSONL, or `almanac:train`, `almanac:calibration` or `almanac:test`: a
            split of the world that the pocket model has read of; `almanac` is its train split. A file of
            such a name is meant by `./almanac`.
        kind: the form of the file, one of `KINDS`; None: it is recognised.
        skipped: counts the bad records, and the reading goes on without them; None: the first ends it.

    Raises:
        SettingsError: there is no such dataset.
        KnowwhenError: a record is no question; says which and why.
    """
    split = ALMANACS.get(dataset)
    if split:
        return almanac_questions(default_world(), split)
    if not Path(dataset).is_file():
        raise SettingsError(
            f"no dataset is called {str(dataset)!r}; give a file of FlashRAG's JSONL, or one of "
            + ", ".join(map(str, ALMANACS))
        )
    return _read_jsonl(Path(dataset), skipped)


def almanac_questions(world: World, split: Split) -> Iterator[GoldQuestion]:
    """A world's questions of one split, with the ids that they have in its files."""
    for number, asked in enumerate(questions_of(world, split)):
        metadata = {"kind": asked.kind, "hops": asked.hops, "quadrant": quadrant(asked, world)}
        yield GoldQuestion(f"almanac-{world.seed}-{split}-{number}", asked.question, asked.answers, metadata)


def drawn(questions: Iterable[GoldQuestion], limit: int, seed: int) -> list[GoldQuestion]:
    """At most `limit` questions, evenly at random, in the order in which they came.

    What is drawn depends on the seed and the ids alone, and a smaller draw is part of every larger one.

    Raises:
        KnowwhenError: two of them have one id.
    """

    def lot(numbered: tuple[int, GoldQuestion]) -> bytes:
        return hashlib.sha256(f"{seed}/{numbered[1].id}".encode()).digest()

    chosen = heapq.nsmallest(limit, enumerate(questions, start=1), key=lot)
    for (first, one), (second, other) in pairwise(chosen):  # equal ids draw equal lots
        if one.id == other.id:
            raise KnowwhenError(
                f"questions {first} and {second} both have the id {one.id!r}; give each its own"
            )
    return [question for _, question in sorted(chosen, key=lambda numbered: numbered[0])]


def _read_jsonl(file: Path, skipped: Skipped | None) -> Iterator[GoldQuestion]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield from _question(line, f"{file}:{number}", skipped)
    except OSError as error:
        raise KnowwhenError(f"{file} cannot be read: {error.strerror or error}") from None


def _question(line: bytes, where: str, skipped: Skipped | None) -> Iterator[GoldQuestion]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return report(skipped, where, f"this is no JSON in UTF-8 ({error})")
    reason = _complaint(record)
    if reason:
        return report(skipped, where, reason)
    yield GoldQuestion(
        str(record["id"]), record["question"], tuple(record["golden_answers"]), record.get("metadata") or {}
    )


def _complaint(record: Any) -> str:
    """What keeps a record from being a question; empty if nothing does."""
    if not isinstance(record, dict):
        return "this is not a JSON object"
    if isinstance(record.get("id"), bool) or not isinstance(record.get("id"), str | int):
        return "its id is neither text nor a number"
    if not _is_text(record.get("question")):
        return "it has no question"
    golds = record.get("golden_answers")
    if not isinstance(golds, list) or not golds or not all(map(_is_text, golds)):
        return "its golden_answers are not a list of one text or more"
    if not isinstance(record.get("metadata") or {}, dict):
        return "its metadata is not a JSON object"
    return ""


def _is_text(value: object) -> bool:
    # Half a surrogate pair, which JSON can hold, is no text: it cannot be asked or stored.
    if not isinstance(value, str) or not value.strip():
        return False
    return value.encode("utf-8", "replace").decode() == value
