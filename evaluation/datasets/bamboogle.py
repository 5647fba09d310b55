"""Bamboogle (Press et al. 2023): a JSON list of two-hop questions that no search page answers at once."""

from knowwhen.evaluation.datasets.fields import identity, is_text, text, texts
from knowwhen.evaluation.datasets.form import Form, Record
from knowwhen.evaluation.datasets.gold import GoldQuestion

HOPS = 2


def _question(record: Record, number: str) -> GoldQuestion:
    answer = record.get("Answer", record.get("answer"))
    golds = (str(answer),) if is_text(answer) else texts(record, "Answer", "answer")
    name = identity(record, "id") if "id" in record else number
    return GoldQuestion(name, text(record, "Question"), golds, {"hops": HOPS})


BAMBOOGLE = Form(
    "bamboogle",
    lambda record: "Question" in record and ("Answer" in record or "answer" in record),
    _question,
)
