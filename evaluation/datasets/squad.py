"""SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018): articles under `data`, questions under their paragraphs.

The official scorer compares with every answer given; for a question of 2.0 that has none, with the empty one.
"""

from collections.abc import Iterator

from knowwhen.evaluation.datasets.fields import different, identity, is_text, listed, objects, text
from knowwhen.evaluation.datasets.form import BadRecord, Form, Paragraph, Record, known, supporting
from knowwhen.evaluation.datasets.gold import GoldQuestion

NO_ANSWER = ""


def _parts(record: Record) -> Iterator[Record]:
    """The questions of an article, each with its paragraph, as the hub has them from the first."""
    if "paragraphs" not in record:
        yield record
        return
    for paragraph in objects(record, "paragraphs"):
        for question in objects(paragraph, "qas"):
            yield {"title": record.get("title"), "context": paragraph.get("context"), **question}


def _paragraphs(record: Record) -> Iterator[Paragraph]:
    carriers = objects(record, "paragraphs") if "paragraphs" in record else [record]
    for carrier in carriers:
        title = str(record.get("title") or "").replace("_", " ")
        yield Paragraph(title, text(carrier, "context").strip(), supporting=True)


def _question(record: Record, number: str) -> GoldQuestion:
    golds = different(_texts(record))
    if not golds and record.get("is_impossible") is False:
        raise BadRecord("it has no answers")
    metadata = known(
        hops=1, title=record.get("title"), answerable=bool(golds), supporting=supporting(_paragraphs(record))
    )
    return GoldQuestion(identity(record, "id"), text(record, "question"), golds or (NO_ANSWER,), metadata)


def _texts(record: Record) -> list[str]:
    answers = record.get("answers")
    if isinstance(answers, dict):  # on the hub: a list of texts and one of places
        found = listed(answers, "text")
    else:
        found = [each.get("text") for each in objects(record, "answers")]
    if not all(map(is_text, found)):
        raise BadRecord("its answers is not a list of objects with text")
    return found


def _fits(record: Record) -> bool:
    paragraphs = record.get("paragraphs")
    if isinstance(paragraphs, list):
        return bool(paragraphs) and isinstance(paragraphs[0], dict) and "qas" in paragraphs[0]
    return isinstance(record.get("context"), str) and isinstance(record.get("answers"), dict | list)


SQUAD = Form("squad", _fits, _question, _parts, _paragraphs)
