"""The datasets' own rules where they differ from `metrics`, each with its source.

Like those, each takes a prediction and the gold answers, of which the best counts, and gives a number in
[0, 1]; without any gold answer it is 0.
"""

import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

import regex

from knowwhen.evaluation.metrics import ARTICLES, normalise

SPAN_SEPARATOR = "; "
"""Between the spans of one gold answer of IIRC."""

WORD_OR_SIGN = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")
"""DPR's tokens. By `regex`, as there, since what is a letter hangs on whose Unicode says so."""

_TRIVIA_SPACES = dict.fromkeys(map(ord, string.punctuation + "‘’´`"), " ")


def squad_f1(prediction: str, golds: Sequence[str]) -> float:
    """F1 of the words, yes and no like other words (SQuAD, evaluate-v1.1.py).

    Two texts without a word have nothing in common: 0.
    """
    return max((_f1(normalise(prediction), normalise(gold)) for gold in golds), default=0.0)


def squad2_f1(prediction: str, golds: Sequence[str]) -> float:
    """The same, but 1 for two texts without a word (SQuAD 2.0; MuSiQue, metrics/answer.py)."""

    def of(gold: str) -> float:
        mine, theirs = normalise(prediction), normalise(gold)
        return _f1(mine, theirs) if mine or theirs else 1.0

    return max(map(of, golds), default=0.0)


def normalise_trivia(text: str) -> str:
    """TriviaQA's normal form: punctuation, _ and ‘ ’ ´ become spaces (triviaqa_evaluation.py)."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(_TRIVIA_SPACES)).split())


def trivia_exact_match(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction is one of the gold answers in TriviaQA's normal form (triviaqa_evaluation.py)."""
    mine = normalise_trivia(prediction)
    return max((float(mine == normalise_trivia(gold)) for gold in golds), default=0.0)


def trivia_f1(prediction: str, golds: Sequence[str]) -> float:
    """F1 of the words in TriviaQA's normal form, yes and no like other words (triviaqa_evaluation.py)."""
    mine = normalise_trivia(prediction)
    return max((_f1(mine, normalise_trivia(gold)) for gold in golds), default=0.0)


def nq_exact_match(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction is one of the gold answers, accents apart from letters (ORQA, eval_utils.py).

    Unicode's NFD comes first. So é is é however it is written, and the a of à counts as an article.
    """
    mine = normalise(_decomposed(prediction))
    return max((float(mine == normalise(_decomposed(gold))) for gold in golds), default=0.0)


def has_answer(prediction: str, golds: Sequence[str]) -> float:
    """1 if the tokens of a gold answer follow each other in the prediction (DPR, qa_validation.py).

    A token is a run of letters, digits and marks, or any other visible character by itself; case does not
    count, articles and punctuation do: "U.S." is not in "US".
    """
    mine = _tokens(prediction)
    return float(any(_within(_tokens(gold), mine) for gold in golds))


def popqa_accuracy(prediction: str, golds: Sequence[str]) -> float:
    """1 if a gold answer stands in the prediction, letter by letter (PopQA's run_model.py).

    As it is written, in lower case, or with its first letter alone in upper case. Parts of words count.
    """
    return float(
        any(form in prediction for gold in golds for form in (gold, gold.lower(), gold.capitalize()))
    )


def subspan_exact_match(prediction: str, golds: Sequence[str]) -> float:
    """1 if a gold answer stands in the prediction in SQuAD's normal form ("Lost in the Middle", metrics.py).

    Parts of words count.
    """
    mine = normalise(prediction)
    return float(any(normalise(gold) in mine for gold in golds))


def iirc_exact_match(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction has the spans of a gold answer in DROP's normal form (IIRC's drop_eval.py)."""

    def of(gold: str) -> bool:
        mine, theirs = _spans(prediction, gold)
        return set(mine) == set(theirs) and len(mine) == len(theirs)

    return float(any(map(of, golds)))


def iirc_f1(prediction: str, golds: Sequence[str]) -> float:
    """DROP's F1 of bags of words, rounded to two decimals as there (IIRC's drop_eval.py).

    A span with numbers matches only one that has one of them. Several spans are matched one to one, best for
    the whole; a span without a match counts 0. A gold answer of several spans has `SPAN_SEPARATOR` between
    them; the prediction is then divided at semicolons, else at commas and "and".
    """
    return max((_spans_f1(*_spans(prediction, gold)) for gold in golds), default=0.0)


def normalise_drop(text: str) -> str:
    """DROP's normal form: words, also of hyphenated ones, without punctuation; a number as a float."""
    words = (_drop_word(word) for word in text.lower().replace("-", " ").split(" "))
    return " ".join(word for word in words if word)


def _f1(prediction: str, gold: str) -> float:
    predicted, wanted = prediction.split(), gold.split()
    common = sum((Counter(predicted) & Counter(wanted)).values())
    return 2 * common / (len(predicted) + len(wanted)) if common else 0.0


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _tokens(text: str) -> list[str]:
    return [token.lower() for token in WORD_OR_SIGN.findall(_decomposed(text))]


def _within(part: list[str], whole: list[str]) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _drop_word(word: str) -> str:
    bare = word if _number(word) is not None else word.translate(str.maketrans("", "", string.punctuation))
    number = _number(bare)
    return " ".join(ARTICLES.sub(" ", bare if number is None else str(number)).split())


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _spans(prediction: str, gold: str) -> tuple[list[str], list[str]]:
    """The spans of both in DROP's normal form; the prediction is one span where the gold answer is."""
    wanted = gold.split(SPAN_SEPARATOR)
    given = [prediction]
    if len(wanted) > 1:
        given = prediction.split(";")
        if len(given) == 1:
            given = [part for each in prediction.split(",") for part in f" {each} ".split(" and ")]
    filled = [each for each in given if each.strip()] or [""]
    return list(map(normalise_drop, filled)), list(map(normalise_drop, wanted))


def _spans_f1(given: list[str], wanted: list[str]) -> float:
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    scores = np.array([[_bag_f1(set(each.split()), set(gold.split())) for each in given] for gold in wanted])
    rows, columns = linear_sum_assignment(scores, maximize=True)
    return float(np.round(scores[rows, columns].sum() / max(scores.shape), 2))


def _bag_f1(given: set[str], wanted: set[str]) -> float:
    numbers = {word for word in wanted if _number(word) is not None}
    if numbers and not numbers & given:
        return 0.0
    common = len(given & wanted)
    precision = common / len(given) if given else 1.0
    recall = common / len(wanted) if wanted else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
