"""Natural Questions, open-domain (Lee et al. 2019), and with its gold passage (Liu et al. 2023, "oracle").

Both are JSON lines without ids: a question's is its line. All answers count alike.
"""

from collections.abc import Iterator

from knowwhen.evaluation.datasets.context import titled
from knowwhen.evaluation.datasets.fields import text, texts
from knowwhen.evaluation.datasets.form import Form, Paragraph, Record, known, supporting
from knowwhen.evaluation.datasets.gold import GoldQuestion


def _paragraphs(record: Record) -> Iterator[Paragraph]:
    return titled(record.get("ctxs") or [])


def _question(record: Record, number: str) -> GoldQuestion:
    metadata = known(hops=1, supporting=supporting(_paragraphs(record)))
    return GoldQuestion(number, text(record, "question"), texts(record, "answer", "answers"), metadata)


def _is_open(record: Record) -> bool:
    return "question" in record and isinstance(record.get("answer"), list)


NQ = Form("nq", _is_open, _question)
NQ_ORACLE = Form(
    "nq-oracle", lambda record: {"ctxs", "answers"} <= record.keys(), _question, paragraphs=_paragraphs
)
