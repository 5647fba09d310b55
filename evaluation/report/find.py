"""What the filter over all pages of questions looks in: an entry for each question, in their order."""

from typing import NamedTuple

from knowwhen.evaluation.report.questions import VERDICTS, QuestionRead
from knowwhen.tools.printable import printable

OF_QUESTION, OF_ANSWER = 1000, 200  # characters that are kept; the question's page has all


class Entry(NamedTuple):
    """A question as `page.js` reads it."""

    page: int
    verdicts: str
    """A digit for each method: the place of its verdict in `VERDICTS`."""
    need: str
    kind: str
    question: str
    others: str
    """Where texts are looked for besides: id, right answers, and what each method answered or failed of."""


def entry_of(page: int, question: QuestionRead) -> Entry:
    """A question's entry.

    Args:
        page: number of the page that it is on.
        question: with its answers.
    """
    answers = [each.answer or each.error for each in question.answers]
    others = [question.id, *question.golden_answers, *answers]
    return Entry(
        page,
        "".join(str(VERDICTS.index(each.verdict)) for each in question.answers),
        question.need,
        printable(question.kind),
        printable(question.question[:OF_QUESTION]),
        printable("\n".join(dict.fromkeys(each[:OF_ANSWER] for each in others))),
    )
