"""One question asked twice, as Direct QA and as Confident QA (TAIKC, appendix C.1 and Table 17)."""

from functools import reduce

from pydantic import BaseModel

from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.evaluation.implication import implied
from knowwhen.evaluation.journal import Finished
from knowwhen.models.cost import Cost, add_costs
from knowwhen.models.door import Door
from knowwhen.nodes import answer_directly, confident_qa
from knowwhen.tools.labelled import Text

MAX_TOKENS = 256  # of an answer, as the methods' settings have it


class Judgement(BaseModel, frozen=True, extra="forbid"):
    """What a judge model said of the answers: 1 if one implies the other, 0 if not."""

    direct: float
    """Whether the Direct QA answer implies a gold one."""
    confident: float | None
    """Whether the Confident QA answer does; None if it was declined."""
    consistent: float | None
    """Whether the Confident QA answer implies the Direct QA one; None if it was declined."""
    unread: int
    """Replies of the judge that were neither yes nor no; they count as no."""


class BothAnswers(Finished, frozen=True):
    """Both replies to a question, as the model wrote them but for white space around."""

    direct: Text
    confident: Text
    declined: bool
    """Whether Confident QA gave no answer, as `nodes/confident_qa.py` has it."""
    judgement: Judgement | None
    """None: no judge was asked."""
    cost: Cost
    """Of both answers."""
    judge_cost: Cost | None


def ask_both(door: Door, question: GoldQuestion, judge: Door | None = None) -> BothAnswers:
    """Ask a question in both ways, greedily, and a judge, if there is one, about the answers.

    Raises:
        ModelError: the model or the judge failed.
    """
    replies = [
        door.ask(prompt.format(question=question.question), temperature=0.0, max_tokens=MAX_TOKENS)
        for prompt in (answer_directly.PROMPT, confident_qa.PROMPT)
    ]
    direct, confident = (reply.text.strip() for reply in replies)
    declined = confident_qa.declines(confident)
    judgement, judge_cost = None, None
    if judge is not None:
        golds = question.golden_answers
        pairs = [(golds, direct)] + ([] if declined else [(golds, confident), ((direct,), confident)])
        found = implied(judge, question.question, pairs)
        right, *others = found.verdicts
        of_confident, consistent = others or (None, None)
        judgement = Judgement(
            direct=right, confident=of_confident, consistent=consistent, unread=found.unread
        )
        judge_cost = found.cost
    return BothAnswers(
        question_id=question.id,
        question=question.question,
        golden_answers=question.golden_answers,
        direct=direct,
        confident=confident,
        declined=declined,
        judgement=judgement,
        cost=reduce(add_costs, (reply.cost for reply in replies)),
        judge_cost=judge_cost,
    )
