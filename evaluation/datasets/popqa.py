"""PopQA (Mallen et al. 2023): a table of one-fact questions with the popularity of what they are about.

`possible_answers` is a JSON list in a cell; each counts. The paper's metric is whether the prediction
contains one of them.
"""

from knowwhen.evaluation.datasets.context import unpacked
from knowwhen.evaluation.datasets.fields import identity, text, texts
from knowwhen.evaluation.datasets.form import Form, Record, known
from knowwhen.evaluation.datasets.gold import GoldQuestion


def _question(record: Record, number: str) -> GoldQuestion:
    golds = texts({"possible_answers": unpacked(record.get("possible_answers"))}, "possible_answers")
    metadata = known(
        kind=record.get("prop"),
        hops=1,
        subject=record.get("subj"),
        s_pop=_views(record.get("s_pop")),
        o_pop=_views(record.get("o_pop")),
    )
    return GoldQuestion(identity(record, "id"), text(record, "question"), golds, metadata)


def _views(cell: object) -> int | None:
    """Views of the Wikipedia page in a month, where they are known."""
    return int(str(cell)) if str(cell).isdecimal() else None


POPQA = Form("popqa", lambda record: "possible_answers" in record, _question)
