"""MuSiQue (Trivedi et al. 2022): JSON lines, with twenty paragraphs and a gold decomposition each.

The official scorer compares with the answer and its aliases, and only on questions that are `answerable`;
the others keep the answer that their paragraphs no longer support.
"""

from collections.abc import Iterator

from knowwhen.evaluation.datasets.context import titled
from knowwhen.evaluation.datasets.fields import different, identity, is_text, listed, objects, text
from knowwhen.evaluation.datasets.form import Form, Paragraph, Record, known, supporting
from knowwhen.evaluation.datasets.gold import GoldQuestion


def _paragraphs(record: Record) -> Iterator[Paragraph]:
    return titled(record.get("paragraphs") or [])


def _question(record: Record, number: str) -> GoldQuestion:
    name = identity(record, "id")
    steps = objects(record, "question_decomposition")
    aliases = filter(is_text, listed(record, "answer_aliases"))
    metadata = known(
        kind=name.split("__")[0] if "hop" in name else None,  # 2hop, 3hop1, 3hop2, …: the shape of the graph
        hops=len(steps) or None,
        answerable=record.get("answerable"),
        decomposition=[step.get("question") for step in steps],
        part_answers=[step.get("answer") for step in steps],
        supporting=supporting(_paragraphs(record)),
    )
    return GoldQuestion(
        name, text(record, "question"), different([text(record, "answer"), *aliases]), metadata
    )


MUSIQUE = Form(
    "musique",
    lambda record: "question_decomposition" in record or {"paragraphs", "answer_aliases"} <= record.keys(),
    _question,
    paragraphs=_paragraphs,
)
