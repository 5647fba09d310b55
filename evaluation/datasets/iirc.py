"""IIRC (Ferguson et al. 2020): a JSON list of passages with questions that they do not answer alone.

An answer is one or more spans, a value with a unit, yes or no (binary), or none. Its scorer, DROP's, compares
bags of spans; here they stand in one text, as `iirc_f1` divides it.
"""

from collections.abc import Iterator
from typing import Any

from knowwhen.evaluation.datasets.fields import different, identity, is_text, listed, objects, text
from knowwhen.evaluation.datasets.form import BadRecord, Form, Paragraph, Record, known, supporting
from knowwhen.evaluation.datasets.gold import GoldQuestion
from knowwhen.evaluation.official_metrics import SPAN_SEPARATOR

NO_ANSWER = "none"


def _parts(record: Record) -> Iterator[Record]:
    if not objects(record, "questions"):
        raise BadRecord("it has no questions")
    for question in objects(record, "questions"):
        yield {"passage": {"title": record.get("title"), "text": record.get("text")}, **question}


def _paragraphs(record: Record) -> Iterator[Paragraph]:
    yield Paragraph(str(record.get("title") or ""), text(record, "text").strip(), supporting=True)


def _question(record: Record, number: str) -> GoldQuestion:
    answer = record.get("answer")
    if not isinstance(answer, dict):
        raise BadRecord("its answer is not an object with a type")
    read_from = {str(each.get("passage")) for each in listed(record, "context") if isinstance(each, dict)}
    metadata = known(
        kind=answer.get("type"),
        hops=len(read_from) or None,  # passages that the answer is read from
        answerable=answer.get("type") != "none",
        links=record.get("question_links"),
        supporting=supporting(_paragraphs(record["passage"])) if "passage" in record else None,
    )
    return GoldQuestion(identity(record, "qid"), text(record, "question"), _golds(answer), metadata)


def _golds(answer: dict[str, Any]) -> tuple[str, ...]:
    match answer.get("type"):
        case "span":
            return (SPAN_SEPARATOR.join(text(span, "text").strip() for span in _spans(answer)),)
        case "value":
            value, unit = str(answer.get("answer_value", "")).strip(), answer.get("answer_unit")
            if not value:
                raise BadRecord("its answer has no answer_value")
            return different([value, f"{value} {unit}" if is_text(unit) else value])
        case "binary":
            return (text(answer, "answer_value").strip().lower(),)
        case "none":
            return (NO_ANSWER,)
    raise BadRecord(f"its answer is of the type {str(answer.get('type'))[:40]!r}, which IIRC has not")


def _spans(answer: dict[str, Any]) -> list[Record]:
    spans = objects(answer, "answer_spans")
    if not spans:
        raise BadRecord("its answer has no answer_spans")
    return spans


IIRC = Form(
    "iirc",
    lambda record: "questions" in record and "text" in record,
    _question,
    _parts,
    _paragraphs,
)
