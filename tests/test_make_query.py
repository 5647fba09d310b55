"""The query: which words of a thought are sure enough to be looked up."""

import math

import pytest
from seakr_script import Asked, Line, Said, Story, Thinker, ask, build
from self_dc_script import Shelf

from knowwhen.models.reply import TokenLogprob
from knowwhen.nodes.conclusion import concludes, mark_in, plain, without_mark
from knowwhen.nodes.make_query import surer_words
from knowwhen.nodes.think import FINAL_MARK, words_of


def tokens(*pairs: tuple[str, float]) -> tuple[TokenLogprob, ...]:
    return tuple(TokenLogprob(text, math.log(p) if p else -math.inf, ()) for text, p in pairs)


def words(text: str, unsure: str = "") -> list[tuple[str, float]]:
    return [(word, math.log(0.3 if word in unsure.split() else 0.99)) for word in text.split()]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("Al", 0.9), ("ba", 0.5), (" is", 0.8)], [("Alba", 0.5), ("is", 0.8)]),
        ([("Alba ", 0.9), ("is ", 0.5), ("it", 0.8)], [("Alba", 0.9), ("is", 0.5), ("it", 0.8)]),
        ([("Alba", 0.9), (" ", 0.1), ("is", 0.5)], [("Alba", 0.9), ("is", 0.5)]),
        ([("Alba", 0.5), (".", 0.9)], [("Alba.", 0.5)]),
        (
            [("\n", 0.1), ("\nAlba", 0.9), (" is", 0.5), ("\n", 0.9), ("Beda", 0.9)],
            [("Alba", 0.9), ("is", 0.5)],
        ),
        ([("Alba.\n", 0.9), ("Beda", 0.9)], [("Alba.", 0.9)]),
        ([("Alba.\nBeda", 0.9), (" is", 0.9)], [("Alba.", 0.9)]),
        ([("Alba", 0.9), ("", 0.2), ("no", 0.8)], [("Alba", 0.9), ("no", 0.8)]),
        ([("-", 0.1), (" Alba", 0.9)], [("Alba", 0.9)]),
        ([("-5", 0.1), (" is", 0.9)], [("-5", 0.1), ("is", 0.9)]),
        ([("", 0.2), (" ", 0.2)], []),
        ([], []),
    ],
)
def test_words_are_those_of_the_first_line_and_as_sure_as_their_least_token(
    pairs: list[tuple[str, float]], expected: list[tuple[str, float]]
) -> None:
    found = words_of(tokens(*pairs))
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [math.exp(logprob) for _, logprob in found] == pytest.approx([p for _, p in expected])


def test_a_token_whose_probability_is_no_number_is_unsure() -> None:
    for at in (0, 1):
        found = [TokenLogprob("Al", 0.0, ()), TokenLogprob("ba", 0.0, ())]
        found[at] = TokenLogprob(found[at].token, math.nan, ())
        assert words_of(found) == [("Alba", -math.inf)]
        assert surer_words(words_of(found), 0.99) == ""


@pytest.mark.parametrize(
    ("probability", "kept"), [(0.91, True), (0.9, True), (0.89, False), (1.0, True), (0.0, False)]
)
def test_a_word_stays_if_its_probability_is_at_least_one_less_the_doubt(
    probability: float, kept: bool
) -> None:
    logprob = math.log(probability) if probability else -math.inf
    assert surer_words([("Alba", logprob)], 0.1) == ("Alba" if kept else "")
    assert surer_words([("Alba", logprob)], 1.0) == "Alba"


@pytest.mark.parametrize(
    ("text", "unsure", "query"),
    [
        ("Karn was directed by Alba.", "Alba.", "Karn was directed by"),
        ("Karn , by Alba .", "", "Karn by Alba"),
        ("**Karn** is “old” and 'new'", "", "Karn is old and new"),
        (f"{FINAL_MARK} Old Karn.", "", "Old Karn"),
        (f"{FINAL_MARK}: **Old Karn**.", "", "Old Karn"),
        (f"**{FINAL_MARK}** Karn", "final", "Karn"),
        (f"Karn is old. {FINAL_MARK} Zeno", "Zeno", "Karn is old"),
        ("So the film is Karn", "", "So the film is Karn"),
        (f"{FINAL_MARK} Karn", "Karn", ""),
        ("", "", ""),
    ],
)
def test_the_query_is_the_surer_words_without_those_that_conclude(text: str, unsure: str, query: str) -> None:
    assert surer_words(words(text, unsure), 0.1) == query


def test_a_conclusion_is_taken_off_and_bold_face_too() -> None:
    assert without_mark(f"Karn is old. **{FINAL_MARK}:** Zeno") == "Karn is old. Zeno"
    assert without_mark("Karn is old.") == "Karn is old."
    assert plain("**Karn** is **very old**, 2**3**2") == "Karn is very old, 2**3**2"
    assert concludes("SO THE FINAL ANSWER IS no") and not concludes("The final answers are in.")
    assert mark_in(f"Well. {FINAL_MARK}: x") == range(6, 6 + len(FINAL_MARK) + 1)
    assert list(mark_in("Karn is old.")) == []


@pytest.mark.parametrize(
    ("thought", "looked_up"),
    [
        ("It is so.", False),  # no name, no number, no word of some length
        ("?Karn ?is on it", False),
        ("?Karn ?is of 1987", True),
        ("It is by Al", True),
        ("Это в it", True),
    ],
)
def test_a_query_must_have_a_word_to_look_for(thought: str, looked_up: bool) -> None:
    shelf = Shelf()
    output = ask(Story([Said(thought, 0.2)]), shelf)
    told = any("the question was" in note for note in output["steps"][0]["notes"])
    ((query, _),) = shelf.queries
    assert (query == "Where was the director of Karn born?") is told is not looked_up


def test_the_question_itself_may_be_chosen_however_short_without_a_note() -> None:
    def unsure(asked: Asked) -> Line:
        return Said("x", 0.2)

    output = build(Thinker(unsure), query="question").invoke({"question": "is it so"})
    assert output["steps"][0]["resolved"] == "is it so"
    assert not any("sure enough" in note for note in output["steps"][0]["notes"])
