"""SeaKR's runs published with AdaRAGUE as records: direct answers, and one from each retrieved passage.

Where one question's passages end and the next one's begin is not recorded. A question has 15 at most, fewer
where some were the same, so the ends are found as those under which the answers of a run agree best with each
other and with the direct answer; gold answers play no part in it.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knowwhen.evaluation.calibration.records import Attempt, Record
from knowwhen.evaluation.metrics import normalise
from knowwhen.models.errors import KnowwhenError

MOST = 15  # passages of a question
SHORTER = 2.0  # what a run of fewer costs, in answers that agree
MISSING = 0.3  # and for each passage that it lacks
SCORES = {
    "perplexity": "perplexity",
    "energy": "energy_score",
    "mean_perplexity": "ln_entropy",
    "gram": "eigen_score",
}
"""Estimators by the run's own names, where theirs points the other way with a minus."""
TURNED = {"energy"}


def seakr_records(direct: str | Path, passages: str | Path, gold: str | Path) -> Iterator[Record]:
    """The recorded answers as records; an open-book answer for each passage, all had by one retrieval.

    Args:
        direct: the answers without a passage, one a line.
        passages: the answers from each passage, runs of lines in the order of the questions.
        gold: an object of gold answers by the questions' ids, in the same order.

    Raises:
        KnowwhenError: a file cannot be read or is damaged, or they are not of the same questions.
    """
    answers, looked_up = list(_lines(Path(direct))), list(_lines(Path(passages)))
    golds = _golds(Path(gold))
    if len(golds) != len(answers):
        raise KnowwhenError(
            f"{gold} has {len(golds):,} questions, {direct} {len(answers):,}; give one run's files"
        )
    if not len(answers) <= len(looked_up) <= MOST * len(answers):
        raise KnowwhenError(f"{passages} has {len(looked_up):,} lines, which are not 1 to {MOST} a question")
    at = 0
    sizes = run_lengths([each.answer for each in answers], [each.answer for each in looked_up])
    for (id, golden), closed, size in zip(golds.items(), answers, sizes, strict=True):
        opened = tuple(looked_up[at : at + size])
        # The recording has no text of the questions.
        yield Record(id=id, question=id, golden_answers=golden, closed_book=closed, open_book=opened)
        at += size


def run_lengths(direct: Sequence[str], looked_up: Sequence[str]) -> list[int]:
    """How many of the answers from passages belong to each question.

    Args:
        direct: the answers without a passage, of all questions.
        looked_up: the answers from passages, runs in the order of the questions.
    """
    runs, own = [_words(each) for each in looked_up], [_words(each) for each in direct]
    lines, deficit = len(runs), MOST * len(direct) - len(runs)
    near = np.zeros((lines, MOST))  # how alike line i and line i+k are
    for line in range(lines):
        for behind in range(1, min(MOST, lines - line)):
            near[line, behind] = _alike(runs[line], runs[line + behind])
    chance = 0.7 * near[:, 1:].mean()
    inside = np.zeros((MOST + 1, lines + 1))  # of a run of that length from that line on
    for size in range(2, MOST + 1):
        starts = np.arange(lines - size + 1)
        ends = sum(near[starts + size - 1 - behind, behind] - chance for behind in range(1, size))
        inside[size, starts] = inside[size - 1, starts] + ends / MOST
    best = np.full(lines + 1, -np.inf)
    best[0] = 0
    chosen: list[np.ndarray[Any, Any]] = []
    for number, words in enumerate(own):
        first, last = max(0, MOST * number - deficit), min(lines, MOST * (number + 1))
        linked = np.concatenate(
            [[0], np.cumsum([_alike(words, runs[line]) - chance for line in range(first, last)])]
        )
        then, size_of = np.full(lines + 1, -np.inf), np.zeros(lines + 1, dtype=int)
        for size in range(1, MOST + 1):
            starts = np.arange(first, min(MOST * number, last - size) + 1)
            value = (
                best[starts] + inside[size, starts] + linked[starts - first + size] - linked[starts - first]
            )
            value -= SHORTER * (size < MOST) + MISSING * (MOST - size)
            better = value > then[starts + size]
            then[starts[better] + size], size_of[starts[better] + size] = value[better], size
        best = then
        chosen.append(size_of)
    sizes, end = [], lines
    for size_of in reversed(chosen):
        sizes.append(int(size_of[end]))
        end -= sizes[-1]
    return sizes[::-1]


def _words(answer: str) -> frozenset[str]:
    return frozenset(normalise(answer).split())


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))


def _lines(file: Path) -> Iterator[Attempt]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield _attempt(line, f"{file}:{number}")
    except OSError as error:
        raise KnowwhenError(f"{file} cannot be read: {error.strerror or error}") from None


def _attempt(line: str, where: str) -> Attempt:
    try:
        told = json.loads(line)
        scores = {ours: -told[theirs] if ours in TURNED else told[theirs] for ours, theirs in SCORES.items()}
        return Attempt(answer=told["answer"], scores=scores)
    except (ValueError, KeyError, TypeError) as error:
        raise KnowwhenError(f"{where}: this is no answer of SeaKR's run ({error!r})") from None


def _golds(file: Path) -> dict[str, tuple[str, ...]]:
    try:
        return {id: tuple(answers) for id, answers in json.loads(file.read_text(encoding="utf-8")).items()}
    except OSError as error:
        raise KnowwhenError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, AttributeError, TypeError):
        raise KnowwhenError(f"{file} is no JSON object of lists of gold answers") from None
