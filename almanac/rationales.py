"""The steps of a reasoning: a sentence for each fact, and one for what is compared."""

from knowwhen.almanac.passages import state_plainly
from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.almanac.relations import BY_NAME


def rationales(question: AlmanacQuestion) -> tuple[str, ...]:
    """The steps that lead to a question's answer, in their order and always in the same words.

    Where two years are compared, the last one puts them in order: no small model does that and names whose
    the earlier one is in one step.
    """
    facts = tuple(state_plainly(fact) for fact in question.facts)
    years = [fact.object for fact in question.facts if BY_NAME[fact.relation].object == "year"]
    if len(years) < 2:
        return facts
    earlier, later = sorted(years, key=int)
    return (*facts, f"{earlier} comes before {later}.")
