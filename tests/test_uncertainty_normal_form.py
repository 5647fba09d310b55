"""Answers written in different ways have one form, and different answers have different ones."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.uncertainty.normal_form import normal_form
from knowwhen.uncertainty.numerals import ONES, TEENS, TENS, in_figures, with_suffix
from knowwhen.uncertainty.unknown import means_unknown


@pytest.mark.parametrize(
    "ways",
    [
        ("Paris", "paris.", " **PARIS** ", "'Paris'"),
        ("The Eiffel Tower", "the Eiffel-Tower", "Eiffel Tower!"),
        ("Beyoncé", "Beyonce", "Beyonce\u0301"),
        ("O'Brien", "O’Brien", "OBrien"),
        ("U.S.", "US", "the U. S."),
        ("J.R.R. Tolkien", "J. R. R. Tolkien", "JRR Tolkien"),
        ("Tom & Jerry", "Tom and Jerry"),
        ("12 March 1999", "March 12, 1999", "the 12th of March, 1999", "on 12 Mar. 1999", "1999-03-12"),
        ("March the twelfth, 1999", "Mar 12 1999", "1999-3-12"),
        ("March 1999", "in March 1999", "March of 1999"),
        ("5 May", "May 5th", "on the fifth of May"),
        ("1999", "in 1999", "In 1999."),
        ("1,000,000", "1000000", "one million", "a million", "1 million", "1000000.0"),
        ("2.5 million", "2,500,000"),
        ("21", "twenty-one", "Twenty One", "21.0"),
        ("105", "one hundred and five", "a hundred five"),
        ("1200", "one thousand two hundred", "1,200"),
        ("2001", "two thousand and one"),
        ("999999", "nine hundred ninety-nine thousand nine hundred and ninety-nine"),
        ("21st", "twenty-first", "the twenty first"),
        ("third", "3rd"),
        ("50%", "fifty percent", "50 percent"),
        ("−5", "-5"),
        ("yes", "Yes.", "Yes, he was.", "YES!", "yes it is", "Yes — both were."),
        ("no", "No.", "No, she is not.", "no they are not"),
    ],
    ids=lambda ways: ways[0],
)
def test_the_ways_of_writing_an_answer_have_one_form(ways: tuple[str, ...]) -> None:
    assert {normal_form(way) for way in ways} == {normal_form(ways[0])}


@pytest.mark.parametrize(
    "others",
    [
        ("12 March 1999", "3 December 1999", "12 March 1998", "March 1999", "1999", "12 March"),
        ("5", "-5", "50", "5.5", "1/5", "5th"),
        ("1914-1918", "1914", "19141918"),
        ("3.14", "314", "3 14"),
        ("1984", "nineteen eighty four"),
        ("007", "7"),
        ("C", "C++", "C#"),
        ("No", "No. 5", "No Country for Old Men", "None", "Yes"),
        ("vitamin A", "vitamin"),
        ("A", "The"),
        ("∞", "π", "?"),
        ("Theresa May", "Theresa", "May 5"),
        ("30 March 1999", "45 March 1999"),
        ("日本", "中国"),
        ("किताब", "कताब"),
    ],
    ids=lambda others: others[0],
)
def test_different_answers_have_different_forms(others: tuple[str, ...]) -> None:
    assert len({normal_form(other) for other in others}) == len(others)


@given(st.text())
def test_every_answer_with_text_in_it_has_a_form(text: str) -> None:
    assert bool(normal_form(text)) == bool(text.strip())


@given(st.lists(st.sampled_from(["Kleko", "Wedo", "Thevin", "river", "Zon"]), min_size=1, max_size=4))
def test_case_punctuation_and_articles_do_not_count(words: list[str]) -> None:
    plain = normal_form(" ".join(words))
    assert normal_form("The " + ", ".join(words).upper() + "!?") == plain
    assert normal_form("\t".join(f"“{word}”" for word in words)) == plain


@given(st.integers(0, 999_999))
def test_every_number_in_words_is_the_number_in_figures(number: int) -> None:
    assert in_figures(in_words(number).split()) == [str(number)]
    assert normal_form(in_words(number).replace(" ", "-")) == normal_form(f"{number:,}")


RUN = ["one", "twenty", "hundred", "thousand", "million", "and", "third", "5", "0.5", "-3", "007", "of"]


def test_numbers_that_stand_side_by_side_stay_two() -> None:
    assert in_figures(["five", "thousand", "six", "thousand"]) == ["5000", "6000"]
    assert in_figures(["nineteen", "eighty", "four"]) == ["19", "84"]


@given(st.lists(st.sampled_from(RUN)))
def test_any_run_of_number_words_is_read(words: list[str]) -> None:
    assert not (set(in_figures(words)) & {"one", "twenty", "thousand", "million", "third"})


@pytest.mark.parametrize(
    ("number", "nth"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (21, "21st"),
        (113, "113th"),
    ],
)
def test_ordinals(number: int, nth: str) -> None:
    assert with_suffix(number) == nth


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "  \n",
        "Unknown",
        "unknown.",
        "It is unknown.",
        "The answer is not known.",
        "This remains unclear",
        "I don't know.",
        "I do not know who directed it.",
        "I don’t have that information.",
        "Sorry, but I am not sure.",
        "I'm not sure, but it may be Kleko.",
        "I cannot answer this question.",
        "Unable to determine",
        "It cannot be determined from the passage.",
        "There is not enough information to answer.",
        "No information available.",
        "no idea",
        "Not mentioned.",
        "N/A",
        "noanswer",
        "No answer.",
        "idk",
    ],
)
def test_answers_that_say_nothing_are_told(answer: str) -> None:
    assert means_unknown(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "No",
        "None",
        "Nobody",
        "Unknown Pleasures",
        "The Unknown Soldier",
        "Na",
        "Not Afraid",
        "I Know",
        "0",
    ],
)
def test_answers_that_only_sound_so_are_answers(answer: str) -> None:
    assert not means_unknown(answer)


@given(st.text(string.ascii_lowercase + " '.,", max_size=200))
def test_any_text_is_judged(text: str) -> None:
    assert means_unknown(text) in (True, False)


def in_words(number: int) -> str:
    """A number below a million as it is said."""
    small = ("zero", *ONES, *TEENS)
    if number >= 1000:
        rest = number % 1000
        return f"{in_words(number // 1000)} thousand" + (f" {in_words(rest)}" if rest else "")
    if number >= 100:
        rest = number % 100
        return f"{small[number // 100]} hundred" + (f" and {in_words(rest)}" if rest else "")
    if number >= 20:
        return TENS[number // 10 - 2] + (f" {small[number % 10]}" if number % 10 else "")
    return small[number]
