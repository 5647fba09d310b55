"""The datasets' own scorers: cases worked out from their published rules, and where they differ from ours."""

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.evaluation.datasets.forms import KINDS
from knowwhen.evaluation.metric_names import JUDGE, METRICS, USUAL, official
from knowwhen.evaluation.official_metrics import has_answer, normalise_drop, normalise_trivia

ACUTE = "\u0301"  # combining
GRAVE = "\u0300"

CASES = {
    # HotpotQA and 2WikiMultihopQA: a yes, no or noanswer that is not equal scores nothing.
    "hotpotqa": [
        ("The Eiffel Tower!", ["Eiffel tower"], (1, 1)),
        ("yes, they were", ["yes"], (0, 0)),
        ("no", ["no country for old men"], (0, 0)),
        ("the", ["a"], (1, 0)),
        ("Bela Kun of Hungary", ["Bela Kun"], (0, 2 / 3)),
    ],
    "2wikimultihopqa": [
        ("no", ["not at all"], (0, 0)),
        ("Ulm", ["Ulm, Germany", "Ulm"], (1, 1)),
        ("in Ulm", ["Ulm", "City of Ulm"], (0, 2 / 3)),
    ],
    # MuSiQue and SQuAD: yes is a word; two texts without a word agree.
    "musique": [
        ("yes, they were", ["yes"], (0, 1 / 2)),
        ("the", ["a"], (1, 1)),
        ("the", ["Ulm"], (0, 0)),
        ("Ulm in Germany", ["Ulm", "Ulm Germany"], (0, 4 / 5)),
    ],
    "squad": [
        ("", [""], (1, 1)),  # unanswerable, and nothing said
        ("Ulm", [""], (0, 0)),
        ("", ["Ulm"], (0, 0)),
        ("no man", ["no"], (0, 2 / 3)),
        ("rock-n-roll", ["rocknroll"], (1, 1)),
    ],
    "triviaqa": [
        ("the_beatles", ["Beatles"], (1, 1)),
        ("Rock-n-Roll!", ["rock n roll"], (1, 1)),
        ("O‘Neill", ["o neill"], (1, 1)),
        ("O’Neill", ["ONeill"], (0, 0)),
        ("“Hello”", ["Hello"], (0, 0)),  # double curly quotes stay
        ("U.S.", ["US"], (0, 0)),
        ("yes they were", ["yes"], (0, 1 / 2)),
        ("a_b", ["b"], (1, 1)),  # the a before _ is an article
    ],
    # NQ-open and WebQuestions: Unicode's NFD first, then SQuAD's normal form.
    "nq": [
        ("Café", [f"cafe{ACUTE}"], (1,)),
        ("café", ["cafe"], (0,)),
        ("à propos", [f"{GRAVE} propos"], (1,)),  # the a of à is an article
        ("14 December 1972 UTC", ["14 December 1972 UTC", "December 1972"], (1,)),
        ("December 14", ["14 December 1972"], (0,)),
    ],
    "webquestions": [("the Ulm", ["Ulm"], (1,)), ("Ulm am", ["Ulm"], (0,))],
    "nq-oracle": [
        ("It was in the U.S.A. then", ["USA"], (1,)),
        ("partly", ["art"], (1,)),
        ("art", ["partly"], (0,)),
    ],
    "popqa": [
        ("He was a politician.", ["Politician"], (1,)),
        ("POLITICIAN", ["politician"], (0,)),
        ("New york city", ["new york City"], (1,)),
        ("partly", ["art"], (1,)),
        ("the U S", ["U.S."], (0,)),
    ],
    "strategyqa": [("Yes", ["yes"], (1,)), ("False", ["no"], (1,)), ("no", ["True"], (0,))],
    "bamboogle": [("Ulm.", ["Ulm"], (1,)), ("in Ulm", ["Ulm"], (0,))],
    # IIRC, by DROP's scorer: bags of words, numbers as numbers, spans one to one, two decimals.
    "iirc": [
        ("5 years", ["5"], (0, 0.67)),
        ("6 years", ["5 years"], (0, 0)),  # another number
        ("5.0", ["5"], (1, 1)),
        ("1,000 people", ["1000 people"], (1, 1)),
        ("the well known", ["well-known"], (1, 1)),
        ("red red car", ["red car"], (0, 1)),
        ("some years", ["5 years", "years"], (0, 0.67)),
        ("blue and red", ["red; blue"], (1, 1)),
        ("red", ["red; blue"], (0, 0.5)),
        ("red, blue, green", ["red; blue"], (0, 0.67)),
        ("red, blue, red", ["red; blue"], (0, 0.67)),
        ("blue car, green", ["red; blue"], (0, 0.33)),
        ("Ulm; May 3, 1990", ["May 3, 1990; Ulm"], (1, 1)),
        ("none", ["none"], (1, 1)),
        ("", ["red"], (0, 0)),
        ("", ["the"], (1, 1)),
        ("", ["red; blue"], (0, 0)),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("dataset", "prediction", "golds", "expected"),
    [(dataset, *case) for dataset, cases in CASES.items() for case in cases],
)
def test_a_dataset_is_scored_as_by_its_own_scorer(
    dataset: str, prediction: str, golds: list[str], expected: tuple[float, ...]
) -> None:
    found = tuple(METRICS[name](prediction, golds) for name in official(dataset))
    assert found == pytest.approx(expected)


def test_every_dataset_that_can_be_read_has_its_scorer() -> None:
    for kind in KINDS:
        assert set(official(kind)) <= {*METRICS, JUDGE}
        assert (official(kind) == USUAL) == (kind == "flashrag"), kind
    assert official("my own") == official("almanac") == USUAL
    assert official("NQ_Open") == official("nq")
    assert official("freshqa") == (JUDGE,)


def test_squad_1_finds_nothing_in_common_between_texts_without_words() -> None:
    assert [METRICS[name]("the", ["a"]) for name in ("squad_f1", "squad2_f1")] == [0, 1]
    assert METRICS["squad_f1"]("yes, they were", ["yes"]) == 1 / 2
    assert METRICS["squad_f1"]("they were", ["no", "they were not"]) == pytest.approx(4 / 5)


@pytest.mark.parametrize(
    ("prediction", "gold", "expected"),
    [
        ("It's in the U.S.", "U.S", 1),
        ("US", "U.S.", 0),
        ("Beatles", "The Beatles", 0),
        ("all the Beatles", "THE beatles", 1),
        ("a café", f"cafe{ACUTE}", 1),
        ("a cafe", "café", 0),
        ("a café", "cafe", 0),
        ("rock-n-roll", "rock n roll", 0),
        ("rock-n-roll", "rock-n", 1),
        ("unknown", "no", 0),
        ("x_y", "y", 1),
        ("in 1990s", "1990", 0),
        ("one\u200btwo", "two", 1),  # an invisible character divides, and is no token
        ("one\u200btwo", "one two", 1),
        ("", "Ulm", 0),
    ],
)
def test_has_answer_compares_tokens_as_dpr(prediction: str, gold: str, expected: float) -> None:
    assert has_answer(prediction, ["nothing such", gold]) == expected


texts = st.text(st.sampled_from("aAé.,-_ 1½\u0301\u200b\t漢") | st.characters(), max_size=8)


def test_a_letter_of_a_newer_unicode_than_pythons_is_one() -> None:
    assert has_answer("", ["\U00018d80"]) == 0
    assert has_answer("it is \U00018d80", ["\U00018d80"]) == 1


@given(texts, texts)
def test_has_answer_has_the_tokens_of_dprs_pattern(prediction: str, gold: str) -> None:
    def tokens(text: str) -> list[str]:
        found = regex.findall(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]", unicodedata.normalize("NFD", text))
        return [token.lower() for token in found]

    within, whole = tokens(gold), tokens(prediction)
    starts = range(len(whole) - len(within) + 1)
    assert has_answer(prediction, [gold]) == any(whole[at : at + len(within)] == within for at in starts)


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("$5", "5.0"),
        ("3.50", "3.5"),
        ("1,000", "1000.0"),
        ("10%", "10.0"),
        ("The U.S.", "us"),
        ("twenty-one years", "twenty one years"),
        ("a b", "b"),
        ("5th", "5th"),
        ("-", ""),
    ],
)
def test_text_is_normalised_as_by_drop(text: str, normalised: str) -> None:
    assert normalise_drop(text) == normalised


@given(texts, st.lists(texts, max_size=3))
def test_all_metrics_are_shares_and_a_text_is_like_itself(prediction: str, golds: list[str]) -> None:
    for name, metric in METRICS.items():
        assert 0 <= metric(prediction, golds) <= 1, name
        assert metric(prediction, []) == 0, name
        assert metric(prediction, [*golds, "x"]) >= metric(prediction, golds) - 1e-12, name
        if name not in ("yes_no_accuracy", "squad_f1", "f1", "trivia_f1"):  # nothing in common without words
            assert metric("Ulm", ["Ulm", *golds]) == 1, name
    assert normalise_trivia(normalise_trivia(prediction)) == normalise_trivia(prediction)
