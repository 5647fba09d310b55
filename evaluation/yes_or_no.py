"""Whether a free answer says yes or no: the accuracy of StrategyQA."""

import re
from collections.abc import Sequence

_SAID = r"(?P<denied>not\s+)?(?P<said>yes|no|true|false)(?![^\W_])"
_BEGINS = re.compile(rf"[\W_]*{_SAID}", re.I)
_STATED = re.compile(rf".*\banswer\b[\W_]*(?:is|would be)?[\W_]*{_SAID}", re.I | re.S)
_ENDS = re.compile(rf"(?<![^\W_]){_SAID}[\W_]*$", re.I)
_HOLDS = re.compile(r".*\b(?:is|be|was)\s+(?P<denied>not\s+)?(?P<said>true|false)(?![^\W_])", re.I | re.S)
_EITHER = re.compile(r"\b(?:yes|no|true|false)\s*(?:/|\b(?:or|nor|and)\b)\s*(?:yes|no|true|false)\b", re.I)


def says_yes_or_true(answer: str) -> bool | None:
    """What an answer in free words says; None if that is neither yes nor no.

    Its first word counts; else the last "answer is …" or "answer: …"; else its last word; else the last "is
    true" or "is false". "Not true" is no, and "yes or no", "yes and no" and "yes/no" are neither.
    """
    text = _EITHER.sub("", answer)
    found = _BEGINS.match(text) or _STATED.match(text) or _ENDS.search(text) or _HOLDS.match(text)
    if not found:
        return None
    return (found["said"].lower() in ("yes", "true")) != bool(found["denied"])


def yes_no_accuracy(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction says what a gold answer says, yes (true) or no (false), in whatever words.

    StrategyQA's scorer compares truth values and leaves it open how they are read off a text; see
    `says_yes_or_true`. A prediction that says neither is wrong.
    """
    said = says_yes_or_true(prediction)
    return float(said is not None and any(said == says_yes_or_true(gold) for gold in golds))
