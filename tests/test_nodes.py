"""The pieces of nodes: the band, the thought's answer, what prompts show."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from knowwhen.nodes.combine import as_pairs
from knowwhen.nodes.read_passages import as_text
from knowwhen.nodes.score_confidence import route_by_band
from knowwhen.nodes.think_step_by_step import read_thought
from knowwhen.tools.passage import Passage


@pytest.mark.parametrize(
    ("confidence", "alpha", "beta", "route"),
    [
        (0.5, 0.6, 0.1, "retrieve"),  # c = α−β
        (0.5000001, 0.6, 0.1, "decompose"),
        (0.6, 0.6, 0.1, "decompose"),
        (0.6999999, 0.6, 0.1, "decompose"),
        (0.7, 0.6, 0.1, "generate"),  # c = α+β
        (0.8, 0.7, 0.1, "generate"),  # 0.7 + 0.1 is 0.7999…
        (0.3, 0.2, 0.1, "generate"),  # 0.2 + 0.1 is 0.3000…4
        (0.2, 0.3, 0.1, "retrieve"),  # 0.3 − 0.1 is 0.1999…8
        (0.0, 0.0, 0.0, "generate"),
        (1.0, 0.0, 0.0, "generate"),
        (0.0, 1.0, 0.0, "retrieve"),
        (0.9999999999, 1.0, 0.0, "retrieve"),
        (1.0, 1.0, 0.0, "generate"),
        (0.0, 0.1, 0.1, "retrieve"),  # α−β = 0
        (0.0, 0.1, 0.2, "decompose"),  # α−β < 0: nothing is retrieved at once
        (1.0, 0.95, 0.1, "decompose"),  # α+β > 1: nothing is generated
        (1.0, 0.9, 0.1, "generate"),  # α+β = 1
        (0.5, 0.5, 0.5, "decompose"),
        (0.0, 0.5, 0.5, "retrieve"),
        (1.0, 0.5, 0.5, "generate"),
    ],
)
def test_the_edges_of_the_band_belong_where_figure_3_puts_them(
    confidence: float, alpha: float, beta: float, route: str
) -> None:
    assert route_by_band(confidence, alpha, beta) == route


def figure_3(c: Fraction, alpha: Fraction, beta: Fraction) -> str:
    if c < alpha + beta and c > alpha - beta:
        return "decompose"
    if c >= alpha + beta:
        return "generate"
    return "retrieve"


thousandths = st.integers(0, 1000).map(lambda n: Fraction(n, 1000))


@given(thousandths, thousandths, thousandths)
def test_the_route_is_that_of_figure_3_in_exact_fractions(
    c: Fraction, alpha: Fraction, beta: Fraction
) -> None:
    assert route_by_band(float(c), float(alpha), float(beta)) == figure_3(c, alpha, beta)


@given(thousandths, thousandths, st.sampled_from([-1, 0, 1]))
def test_both_edges_are_met_exactly(alpha: Fraction, beta: Fraction, side: int) -> None:
    c = alpha + side * beta
    assume(0 <= c <= 1)
    assert route_by_band(float(c), float(alpha), float(beta)) == figure_3(c, alpha, beta)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Alba is in Zeno. So the answer is Zeno.", "Zeno"),
        ("So the answer is: **Zeno**.\n", "Zeno"),
        ("So the answer is\nZeno\nand more", "Zeno"),
        ("The final answer is Zeno", "Zeno"),
        ("At first the answer is Alba. But no. So the answer is Zeno", "Zeno"),
        ("SO THE ANSWER IS zeno", "zeno"),
        ("So the answer is", None),
        ("I do not know.", None),
        ("", None),
    ],
)
def test_the_answer_of_a_thought_is_what_follows_its_last_mark(text: str, answer: str | None) -> None:
    assert read_thought(text) == answer


def test_passages_are_numbered_and_stand_behind_their_title_if_they_have_one() -> None:
    def passage(title: str, text: str) -> Passage:
        return Passage(id="", title=title, text=text, source="", rank=1, score=None)

    assert (
        as_text([passage("Alba", "A city."), passage("", "A {river}.")])
        == "[1] Alba: A city.\n[2] A {river}."
    )


def test_pairs_are_numbered_questions_with_their_answers() -> None:
    assert as_pairs(["Who?", "When?"], ["Alba", "1482"]) == "#1: Who? Alba\n#2: When? 1482"
