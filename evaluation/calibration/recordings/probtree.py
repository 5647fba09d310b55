"""ProbTree's published runs as records: trees of questions, each answered from memory and from passages.

A file is a list of trees, a tree a list of nodes that name their `sons`, the question itself last. Each node
has `[answer, mean log-probability]` closed book, open book and, if it has sons, combined from theirs. There
are no gold answers in it: they come from a dataset that has the same questions.
"""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from knowwhen.evaluation.calibration.records import Asked, Attempt, Combined, Record
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.evaluation.metrics import normalise
from knowwhen.models.errors import KnowwhenError

SCORE = "geometric_probability"
"""exp of the mean log-probability of the answer's tokens; a confidence."""


def probtree_records(file: str | Path, golds: Iterable[GoldQuestion]) -> Iterator[Record]:
    """The trees of a file as records, each with its recorded answers and its own sub-questions.

    Args:
        file: such as `released.json` of one of the datasets.
        golds: questions with their answers; joined by the words of the question.

    Raises:
        KnowwhenError: the file cannot be read or is no such recording, or a question has no gold answers.
    """
    trees = _trees(Path(file))
    answers = {normalise(each.question): each.golden_answers for each in golds}
    questions = [_question(tree, f"{file}: tree {number}") for number, tree in enumerate(trees)]
    without = [each for each in questions if normalise(each) not in answers]
    if without:
        raise KnowwhenError(
            f"{len(without):,} of the {len(questions):,} questions in {file} have no gold answers, as "
            f"{without[0]!r}; give a dataset that holds them"
        )
    for number, (question, tree) in enumerate(zip(questions, trees, strict=True)):
        try:
            root = _asked(tree, len(tree) - 1, set())
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise KnowwhenError(f"{file}: tree {number} is damaged ({error!r})") from None
        golden = answers[normalise(question)]
        yield Record(**dict(root), id=f"probtree-{number}", golden_answers=golden)


def _trees(file: Path) -> list[Any]:
    try:
        trees = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise KnowwhenError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise KnowwhenError(f"{file} is no JSON: {error}") from None
    if not isinstance(trees, list) or not trees:
        raise KnowwhenError(f"{file} is no list of ProbTree's trees")
    return trees


def _question(tree: Any, where: str) -> str:
    try:
        return str(tree[-1]["question"])
    except (KeyError, IndexError, TypeError):
        raise KnowwhenError(f"{where} is no list of nodes with a question each") from None


def _asked(tree: list[dict[str, Any]], at: int, above: set[int]) -> Asked:
    if at in above:
        raise ValueError(f"node {at} is below itself")
    node = tree[at]
    parts = tuple(_asked(tree, son, above | {at}) for son in node["sons"])
    return Asked(
        question=node["question"],
        closed_book=_attempt(node["cb_answer"]),
        open_book=(_attempt(node["ob_answer"]),),
        parts=parts,
        combined=(Combined(**dict(_attempt(node["child_answer"]))),) if parts else (),
    )


def _attempt(answer: list[Any]) -> Attempt:
    return Attempt(answer=answer[0], scores={SCORE: min(1.0, math.exp(answer[1]))})
