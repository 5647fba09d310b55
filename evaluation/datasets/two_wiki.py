"""2WikiMultihopQA (Ho et al. 2020): HotpotQA's form, with the facts as triples in `evidences`.

The official scorer compares with the answer and its aliases, which a file of their own has (`aliases.py`).
"""

from knowwhen.evaluation.datasets.context import supporting_facts, unpacked
from knowwhen.evaluation.datasets.fields import different, identity, is_text, listed, text
from knowwhen.evaluation.datasets.form import Form, Record, known, supporting
from knowwhen.evaluation.datasets.gold import GoldQuestion
from knowwhen.evaluation.datasets.hotpotqa import paragraphs

HOPS = {"comparison": 2, "inference": 2, "compositional": 2, "bridge_comparison": 4}
"""By type: how many facts are put together."""


def _question(record: Record, number: str) -> GoldQuestion:
    metadata = known(
        kind=record.get("type"),
        hops=HOPS.get(str(record.get("type"))),
        supporting_facts=supporting_facts(record.get("supporting_facts")),
        evidences=unpacked(record.get("evidences")),
        supporting=supporting(paragraphs(record)),
    )
    golds = different([text(record, "answer"), *filter(is_text, listed(record, "answer_aliases"))])
    return GoldQuestion(identity(record, "_id", "id"), text(record, "question"), golds, metadata)


TWO_WIKI = Form("2wikimultihopqa", lambda record: "evidences" in record, _question, paragraphs=paragraphs)
