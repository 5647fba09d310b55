"""TriviaQA (Joshi et al. 2017), rc or unfiltered: an object with a list of questions under `Data`.

The official scorer compares with the normalised aliases and with what people answered; the first gold answer
here is the one that the question's author gave.
"""

from typing import Any

from knowwhen.evaluation.datasets.fields import different, first, identity, is_text, listed, text
from knowwhen.evaluation.datasets.form import BadRecord, Form, Record
from knowwhen.evaluation.datasets.gold import GoldQuestion


def _question(record: Record, number: str) -> GoldQuestion:
    answer = first(record, "Answer", "answer")
    golds = _golds(answer) if isinstance(answer, dict) else ()
    if not golds:
        raise BadRecord("its Answer has neither a Value nor Aliases")
    name = identity(record, "QuestionId", "question_id")
    return GoldQuestion(name, text(record, "Question", "question"), golds, {"hops": 1})


def _golds(answer: dict[str, Any]) -> tuple[str, ...]:
    value = first(answer, "Value", "value")
    lists = (("Aliases", "aliases"), ("HumanAnswers",), ("NormalizedAliases", "normalized_aliases"))
    others = [each for names in lists for each in listed(answer, *names)]
    return different(filter(is_text, [value, *others]))


def _fits(record: Record) -> bool:
    answer = first(record, "Answer", "answer")
    return ("QuestionId" in record or "question_id" in record) and isinstance(answer, dict)


TRIVIAQA = Form("triviaqa", _fits, _question)
