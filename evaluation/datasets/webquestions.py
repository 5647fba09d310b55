"""WebQuestions (Berant et al. 2013): questions that people typed, answered from Freebase.

Officially the answers are in a Lisp list, `(list (description "Jazmyn Bieber") (description Anna))`; on the
hub they are a list of texts. As in open-domain work, each counts.
"""

import re

from knowwhen.evaluation.datasets.fields import different, text, texts
from knowwhen.evaluation.datasets.form import BadRecord, Form, Record, known
from knowwhen.evaluation.datasets.gold import GoldQuestion

DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"]+))\)')


def _question(record: Record, number: str) -> GoldQuestion:
    golds = _golds(text(record, "targetValue")) if "targetValue" in record else texts(record, "answers")
    metadata = known(hops=1, url=record.get("url"))
    return GoldQuestion(number, text(record, "question", "utterance"), golds, metadata)


def _golds(target: str) -> tuple[str, ...]:
    found = [quoted.replace('\\"', '"') or bare for quoted, bare in DESCRIPTION.findall(target)]
    if not found:
        raise BadRecord("its targetValue describes no answer")
    return different(answer.strip() for answer in found)


def _fits(record: Record) -> bool:
    return {"utterance", "targetValue"} <= record.keys() or {"question", "url", "answers"} <= record.keys()


WEBQUESTIONS = Form("webquestions", _fits, _question)
