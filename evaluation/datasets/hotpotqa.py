"""HotpotQA (Yang et al. 2018): a JSON list, with ten paragraphs each (distractor) or those retrieved.

The official scorer compares with the one answer. Every question takes two paragraphs.
"""

from collections.abc import Iterator

from knowwhen.evaluation.datasets.context import supporting_facts, titled
from knowwhen.evaluation.datasets.fields import identity, text
from knowwhen.evaluation.datasets.form import Form, Paragraph, Record, known, supporting
from knowwhen.evaluation.datasets.gold import GoldQuestion

HOPS = 2


def paragraphs(record: Record) -> Iterator[Paragraph]:
    """The paragraphs of a record; those that a supporting fact stands in are marked."""
    titles = {fact[0] for fact in supporting_facts(record.get("supporting_facts"))}
    for paragraph in titled(record.get("context") or []):
        yield paragraph._replace(supporting=paragraph.supporting or paragraph.title in titles)


def _question(record: Record, number: str) -> GoldQuestion:
    metadata = known(
        kind=record.get("type"),
        hops=HOPS,
        level=record.get("level"),
        supporting_facts=supporting_facts(record.get("supporting_facts")),
        supporting=supporting(paragraphs(record)),
    )
    return GoldQuestion(
        identity(record, "_id", "id"), text(record, "question"), (text(record, "answer"),), metadata
    )


HOTPOTQA = Form("hotpotqa", lambda record: "supporting_facts" in record, _question, paragraphs=paragraphs)
