"""FlashRAG's JSON lines (Jin et al. 2024), the field's form of exchange.

A line is an object with `id`, `question`, `golden_answers` and, where there is more to know, `metadata`. Its
metadata is kept, without the paragraphs in it: a question is not asked with them, `knowwhen index build`
takes them.
"""

from collections.abc import Iterator

from knowwhen.evaluation.datasets.fields import identity, text, texts
from knowwhen.evaluation.datasets.form import BadRecord, Form, Paragraph, Record, known, supporting
from knowwhen.evaluation.datasets.gold import GoldQuestion
from knowwhen.evaluation.datasets.hotpotqa import paragraphs

CARRIERS = ("context", "paragraphs", "ctxs")
"""Where a record's metadata has paragraphs."""


def _paragraphs(record: Record) -> Iterator[Paragraph]:
    metadata = record.get("metadata") or {}
    for carrier in CARRIERS:
        if isinstance(metadata.get(carrier), list | dict):
            facts = metadata.get("supporting_facts")
            yield from paragraphs({"context": metadata[carrier], "supporting_facts": facts})


def _question(record: Record, number: str) -> GoldQuestion:
    metadata = record.get("metadata") or {}
    name, question = identity(record, "id"), text(record, "question")
    golds = texts(record, "golden_answers")
    if not isinstance(metadata, dict):
        raise BadRecord("its metadata is not a JSON object")
    rest = {key: value for key, value in metadata.items() if key not in CARRIERS or isinstance(value, str)}
    gold = supporting(_paragraphs(record))
    added = known(kind=metadata.get("type"), hops=len(gold) or None, supporting=gold)
    return GoldQuestion(name, question, golds, {**added, **rest})


FLASHRAG = Form("flashrag", lambda record: "golden_answers" in record, _question, paragraphs=_paragraphs)
