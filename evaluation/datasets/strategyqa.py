"""StrategyQA (Geva et al. 2021): a JSON list; the answer is a boolean, which becomes yes or no.

Its paragraphs are a file of their own: an object with a paragraph under each id.
"""

from collections.abc import Iterator
from typing import Any

from knowwhen.evaluation.datasets.fields import identity, is_text, listed, text
from knowwhen.evaluation.datasets.form import BadRecord, Form, Paragraph, Record, known
from knowwhen.evaluation.datasets.gold import GoldQuestion

NO_PARAGRAPHS = ("operation", "no_evidence")
"""What stands in the evidence of a step beside the ids of paragraphs."""


def _question(record: Record, number: str) -> GoldQuestion:
    answer = record.get("answer")
    if not isinstance(answer, bool):
        raise BadRecord("its answer is neither true nor false")
    steps = listed(record, "decomposition")
    metadata = known(
        hops=len(steps) or None,  # steps of the strategy, of which some only compare or compute
        decomposition=steps,
        facts=record.get("facts"),
        term=record.get("term"),
        supporting=list(dict.fromkeys(_evidence(record.get("evidence")))),
    )
    name = identity(record, "qid") if "qid" in record else number
    return GoldQuestion(name, text(record, "question"), ("yes" if answer else "no",), metadata)


def _evidence(evidence: Any) -> Iterator[str]:
    """The ids of paragraphs in evidence, which is annotators' lists of steps' lists of paragraphs."""
    if isinstance(evidence, list):
        for each in evidence:
            yield from _evidence(each)
    elif is_text(evidence) and evidence not in NO_PARAGRAPHS:
        yield evidence


def _paragraphs(record: Record) -> Iterator[Paragraph]:
    for name, paragraph in record.items():
        if not isinstance(paragraph, dict) or not is_text(paragraph.get("content")):
            raise BadRecord(f"its paragraph {name!r} has no content")
        yield Paragraph(str(paragraph.get("title") or ""), paragraph["content"], own_id=name)


def _are_paragraphs(record: Record) -> bool:
    paragraph = next(iter(record.values()), None)
    return isinstance(paragraph, dict) and {"title", "para_index", "content"} <= paragraph.keys()


def _no_question(record: Record, number: str) -> GoldQuestion:
    raise BadRecord("these are StrategyQA's paragraphs, which `knowwhen index build` takes")


STRATEGYQA = Form("strategyqa", lambda record: isinstance(record.get("answer"), bool), _question)
STRATEGYQA_PARAGRAPHS = Form("strategyqa-paragraphs", _are_paragraphs, _no_question, paragraphs=_paragraphs)
