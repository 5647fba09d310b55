"""FreshQA (Vu et al. 2023): a table of questions whose answers change, or whose premise is false.

Newer tables begin with lines of warning, which are passed over as far as the one that names the columns.
"""

from knowwhen.evaluation.datasets.fields import different, identity, is_text, text
from knowwhen.evaluation.datasets.form import BadRecord, Form, Record, known
from knowwhen.evaluation.datasets.gold import GoldQuestion

HOPS = {"one-hop": 1, "multi-hop": 2}
"""A multi-hop question takes two facts at the least; the table says no more."""


def _question(record: Record, number: str) -> GoldQuestion:
    cells = [record[name] for name in record if name.startswith("answer_")]
    golds = different(cell.strip() for cell in cells if is_text(cell))
    if not golds:
        raise BadRecord("it has no answer_0")
    metadata = known(
        kind=record.get("fact_type"),
        hops=HOPS.get(str(record.get("num_hops"))),
        false_premise=str(record.get("false_premise")).upper() == "TRUE",
        effective_year=record.get("effective_year"),
        next_review=record.get("next_review"),
        split=record.get("split"),
    )
    return GoldQuestion(identity(record, "id"), text(record, "question"), golds, metadata)


FRESHQA = Form("freshqa", lambda record: {"false_premise", "answer_0"} <= record.keys(), _question)
