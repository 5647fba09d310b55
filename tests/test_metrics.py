"""Metrics, against the definitions of SQuAD's and HotpotQA's scorers and figures worked out by hand."""

import re
import string
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.evaluation.metrics import contains, exact_match, f1, normalise

WORDS = ["a", "an", "the", "The", "yes", "No", "noanswer", "U.S.", "it's", "1,000", "Ulm", "ulm", "é", "  "]
texts = st.lists(st.sampled_from([*WORDS, "-", "?", "\n"]) | st.text(max_size=4), max_size=6).map(" ".join)


def official_normalised(text: str) -> str:
    """SQuAD's definition, step by step: lower, no punctuation, no articles, single spaces."""
    lowered = text.lower()
    bare = "".join(character for character in lowered if character not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def official_f1(prediction: str, gold: str) -> float:
    """HotpotQA's definition: SQuAD's, and nothing for a yes, no or noanswer that is not equal."""
    mine, theirs = official_normalised(prediction), official_normalised(gold)
    if mine in ["yes", "no", "noanswer"] and mine != theirs:
        return 0
    if theirs in ["yes", "no", "noanswer"] and mine != theirs:
        return 0
    shared = sum((Counter(mine.split()) & Counter(theirs.split())).values())
    if shared == 0:
        return 0
    precision, recall = shared / len(mine.split()), shared / len(theirs.split())
    return 2 * precision * recall / (precision + recall)


@given(texts, texts)
def test_exact_match_and_f1_equal_the_official_definitions(prediction: str, gold: str) -> None:
    assert normalise(prediction) == official_normalised(prediction)
    assert exact_match(prediction, [gold]) == (official_normalised(prediction) == official_normalised(gold))
    assert f1(prediction, [gold]) == pytest.approx(official_f1(prediction, gold))


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("The  Beatles!", "beatles"),
        ("an apple a day", "apple day"),
        ("Theatre", "theatre"),
        ("U.S.A.", "usa"),
        ("it's", "its"),
        ("well-known", "wellknown"),
        ("(the)", ""),
        ("a.b", "ab"),
        ("1,000", "1000"),
        ("“quoted”", "“quoted”"),
        ("ÉCOLE", "école"),
        ("\tone\n two ", "one two"),
    ],
)
def test_text_is_normalised_as_by_squad(text: str, normalised: str) -> None:
    assert normalise(text) == normalised


@pytest.mark.parametrize(
    ("prediction", "gold", "em", "overlap"),
    [
        ("the Eiffel Tower", "Eiffel tower.", 1, 1),
        ("Eiffel", "Eiffel Tower", 0, 2 / 3),
        ("in the city of Paris, France", "Paris", 0, 1 / 3),
        ("Paris Paris", "Paris", 0, 2 / 3),  # a word counts as often as both have it
        ("London", "Paris", 0, 0),
        ("", "Paris", 0, 0),
        ("the", "a", 1, 0),  # both empty once normalised: the official scorers give EM 1 and F1 0
        ("Yes.", "yes", 1, 1),
        ("yes, they were", "yes", 0, 0),  # SQuAD alone would give .5
        ("no", "no country for old men", 0, 0),
        ("noanswer", "answer", 0, 0),
        ("yes they were", "they were", 0, 4 / 5),  # longer than a bare yes: scored in part
    ],
)
def test_cases_scored_by_hand(prediction: str, gold: str, em: float, overlap: float) -> None:
    assert exact_match(prediction, [gold]) == em
    assert f1(prediction, [gold]) == pytest.approx(overlap)


def test_the_best_gold_answer_counts() -> None:
    golds = ["Bela Kun", "Kun", "the revolutionary Kun"]
    assert exact_match("kun", golds) == 1
    assert f1("Bela Kun himself", golds) == pytest.approx(4 / 5)
    assert contains("It was Kun.", golds) == 1


def test_without_gold_answers_nothing_is_right() -> None:
    assert (exact_match("x", []), f1("x", []), contains("x", [])) == (0, 0, 0)


@pytest.mark.parametrize(
    ("prediction", "gold", "expected"),
    [
        ("It was directed by Bela Kun in 1990.", "Bela Kun", 1),
        ("Kun Bela", "Bela Kun", 0),
        ("unknown", "no", 0),
        ("No, they are not.", "no", 1),
        ("partly", "art", 0),
        ("in the U.S.A.", "USA", 1),
        ("Bela the Kun", "Bela Kun", 1),  # articles count on neither side
        ("Bela", "Bela Kun", 0),
        ("", "Paris", 0),
    ],
)
def test_containment_is_of_whole_words_in_order(prediction: str, gold: str, expected: float) -> None:
    assert contains(prediction, [gold]) == expected


@given(texts, texts)
def test_an_exact_match_contains_the_answer_and_nothing_exceeds_one(prediction: str, gold: str) -> None:
    assert exact_match(prediction, [gold]) <= contains(prediction, [gold]) <= 1
    assert 0 <= f1(prediction, [gold]) <= 1
    assert f1(prediction, [gold]) == pytest.approx(f1(gold, [prediction]))


def test_metrics_bring_no_heavy_imports() -> None:
    code = "import sys, knowwhen.evaluation.metrics; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = ("torch", "transformers", "langchain_core", "langgraph", "numpy", "sklearn", "pydantic")
    assert not set(heavy) & set(loaded.split())
