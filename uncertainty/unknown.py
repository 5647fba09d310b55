"""Answers that say that the model does not know: however often it says so, it is not sure."""

import re

from knowwhen.uncertainty.normal_form import normal_form

# Of normal forms, which have no apostrophes and no articles; the first alternative is no text at all.
_WHOLE = re.compile(
    r"|unknown|(?:(?:it|this|that|answer|this information|information) (?:is|remains) )?"
    r"(?:currently |still )?(?:unknown|unclear|uncertain|undetermined|unanswerable|unspecified"
    r"|not (?:known|clear|sure|certain|available|specified|mentioned|provided|given|stated|found))"
    r"|no ?answer|no (?:idea|information|data)(?: (?:is )?(?:available|given|provided|found))?|idk|none given"
)
_BEGINNING = re.compile(
    r"(?:sorry |unfortunately |im sorry |i am sorry |i apologize )*(?:but )?"
    r"(?:i (?:really )?(?:do not|dont|didnt|did not) (?:actually )?(?:know|have)"
    r"|i (?:am|was) (?:not|un) ?(?:sure|certain|aware|able)|im (?:not|un) ?(?:sure|certain|aware|able)"
    r"|i have no (?:idea|information|knowledge)"
    r"|(?:i )?(?:can ?not|cant|could not|couldnt|am unable to|unable to) (?:be )?"
    r"(?:answer|say|tell|determine|find|provide|identify|verify|confirm)"
    r"|(?:there is |there are )?(?:not enough|insufficient) (?:information|context|data)"
    r"|(?:it|this|that|answer) (?:can ?not|cant) be (?:answered|determined|known|found)"
    r"|dont know|do not know|unknown to me|not enough information)\b"
)


def means_unknown(answer: str) -> bool:
    """Whether an answer says no more than that the answer is not known, or nothing at all."""
    form = normal_form(answer)
    not_applicable = answer.strip().casefold().rstrip(".") == "n/a"  # whose normal form is sodium's too
    return not_applicable or bool(_WHOLE.fullmatch(form) or _BEGINNING.match(form))
