"""Whether an answer is right: exact match, F1 and containment, as the datasets' own scorers count them.

Each takes a prediction and the gold answers, of which the best counts, and gives a number in [0, 1]; without
any gold answer it is 0.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

ARTICLES = re.compile(r"\b(a|an|the)\b")
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
WHOLE_ANSWERS = ("yes", "no", "noanswer")
"""Answers that HotpotQA's F1 counts as right or wrong, never in part."""


def normalise(text: str) -> str:
    """Lower the case, drop ASCII punctuation, then articles, and put single spaces between the words."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(WITHOUT_PUNCTUATION)).split())


def exact_match(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction, normalised, is one of the gold answers (SQuAD, HotpotQA)."""
    return max((float(normalise(prediction) == normalise(gold)) for gold in golds), default=0.0)


def f1(prediction: str, golds: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of the words (SQuAD), with HotpotQA's rule for yes and no."""
    return max((_f1(normalise(prediction), normalise(gold)) for gold in golds), default=0.0)


def contains(prediction: str, golds: Sequence[str]) -> float:
    """1 if the words of a gold answer stand in the prediction one after the other (the papers' accuracy).

    Whole words: "unknown" does not contain "no".
    """
    padded = f" {normalise(prediction)} "
    return max((float(f" {normalise(gold)} " in padded) for gold in golds), default=0.0)


def _f1(prediction: str, gold: str) -> float:
    if prediction != gold and not {prediction, gold}.isdisjoint(WHOLE_ANSWERS):
        return 0.0
    predicted, wanted = prediction.split(), gold.split()
    common = sum((Counter(predicted) & Counter(wanted)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(predicted), common / len(wanted)
    return 2 * precision * recall / (precision + recall)
