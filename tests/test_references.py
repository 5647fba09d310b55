"""References among quizzes: what is filled in, what cannot be, and who is asked when."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.nodes.references import filled_in, named, references_in, rounds, unresolvable

Numbers = dict[int, list[int]]  # quizzes, and the numbers that they refer to


def written(wanted: Numbers) -> dict[int, str]:
    """Quizzes with these references."""
    return {
        number: f"What is {number} of " + " and ".join(f"#{each}" for each in references) + "?"
        for number, references in wanted.items()
    }


@pytest.mark.parametrize(
    ("quiz", "numbers"),
    [
        ("Where was #1 born?", [1]),
        ("Is #2 older than #1?", [2, 1]),
        ("Is #2's mother #2's aunt?", [2]),
        ("#1, #10, and (#3)?", [1, 10, 3]),
        ("Is #1#2 a name?", [1, 2]),
        ("In #1.", [1]),
        ("Who wrote it in C# 7?", []),
        ("What is #?", []),
        ("What is #1st, #12a or #1_2?", []),
        ("Which colour is #1234?", []),
        ("Was it number 1?", []),
    ],
)
def test_a_reference_is_a_number_behind_a_hash(quiz: str, numbers: list[int]) -> None:
    assert references_in(quiz) == numbers


def test_references_are_named_as_they_are_written() -> None:
    assert named([1, 10]) == "#1, #10"


@pytest.mark.parametrize(
    ("quiz", "answers", "asked"),
    [
        ("Where was #1 born?", {1: "Alba"}, "Where was Alba born?"),
        ("Is #2 older than #1?", {1: "Alba", 2: "Beda"}, "Is Beda older than Alba?"),
        ("Was #10 before #1?", {1: "1909", 10: "1950"}, "Was 1950 before 1909?"),
        ("Was #10 before #1?", {1: "1909"}, "Was #10 before 1909?"),
        ("Where is #1?", {1: "#2", 2: "Zeno"}, "Where is #2?"),  # an answer is no quiz
        ("Is #1 in #2?", {1: "#2", 2: "#1"}, "Is #2 in #1?"),
        ("Where is #1?", {1: "Alba\n and  Beda.\n"}, "Where is Alba and Beda?"),
        ("Where was #1 born?", {1: "Alba.\n"}, "Where was Alba born?"),
        ("Where was #1 born?", {1: ""}, "Where was #1 born?"),
        ("Where was #1 born?", {1: " \n"}, "Where was #1 born?"),
        ("Where was #1's mother born?", {1: "Alba"}, "Where was Alba's mother born?"),
        ("What is #1?", {1: r"\1 \g<0> {0} %s"}, r"What is \1 \g<0> {0} %s?"),
        ("#3 or #1?", {1: "Alba"}, "#3 or Alba?"),
    ],
)
def test_answers_are_filled_in_once_on_one_line_without_a_full_stop(
    quiz: str, answers: dict[int, str], asked: str
) -> None:
    assert filled_in(quiz, answers) == asked


UNRESOLVABLE: dict[str, tuple[Numbers, Numbers, list[list[int]]]] = {
    "none": ({1: [], 2: [1]}, {}, [[1], [2]]),
    "several before": ({1: [], 2: [], 3: [1, 2]}, {}, [[1, 2], [3]]),
    "forward": ({1: [3], 2: [], 3: []}, {}, [[2, 3], [1]]),
    "itself": ({1: [1], 2: []}, {1: [1]}, [[1, 2]]),
    "itself and another": ({1: [1, 2], 2: []}, {1: [1]}, [[2], [1]]),
    "one that there is not": ({1: [], 2: [1, 7]}, {2: [7]}, [[1], [2]]),
    "number 0": ({1: [0]}, {1: [0]}, [[1]]),
    "a circle of two": ({1: [2], 2: [1]}, {1: [2], 2: [1]}, [[1, 2]]),
    "a circle of three": ({1: [2], 2: [3], 3: [1]}, {1: [2], 2: [3], 3: [1]}, [[1, 2, 3]]),
    "one waits for a circle": ({1: [2], 2: [1], 3: [1]}, {1: [2], 2: [1]}, [[1, 2], [3]]),
    "a circle waits for one": ({1: [2, 3], 2: [1], 3: []}, {1: [2], 2: [1]}, [[2, 3], [1]]),
    "a circle waits for a circle": (
        {1: [2], 2: [1], 3: [4, 1], 4: [3]},
        {1: [2], 2: [1], 3: [4], 4: [3]},
        [[1, 2, 4], [3]],
    ),
    "a circle through one number": ({1: [2, 3], 2: [1], 3: [1]}, {1: [2, 3], 2: [1], 3: [1]}, [[1, 2, 3]]),
    "with gaps": ({2: [], 5: [2], 10: [5, 2]}, {}, [[2], [5], [10]]),
    "a chain": ({n: [n - 1] * (n > 1) for n in range(1, 6)}, {}, [[1], [2], [3], [4], [5]]),
    "no quizzes": ({}, {}, []),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "lost", "order"), UNRESOLVABLE.values(), ids=UNRESOLVABLE.keys())
def test_what_cannot_be_filled_in_is_not_waited_for(
    wanted: Numbers, lost: Numbers, order: list[list[int]]
) -> None:
    assert unresolvable(written(wanted)) == lost
    assert rounds(written(wanted)) == order


def reaches(wanted: Numbers) -> set[tuple[int, int]]:
    """All pairs of quizzes of which the first waits for the second, by Warshall's closure."""
    pairs = {(one, other) for one, others in wanted.items() for other in others if other in wanted}
    for middle in wanted:
        for one in wanted:
            for other in wanted:
                if (one, middle) in pairs and (middle, other) in pairs:
                    pairs.add((one, other))
    return pairs


quizzes = st.dictionaries(
    st.integers(1, 12), st.lists(st.integers(0, 13), max_size=4, unique=True), max_size=9
)


@given(quizzes)
def test_every_quiz_is_asked_once_behind_those_it_refers_to_and_as_early_as_that_allows(
    wanted: Numbers,
) -> None:
    waits = reaches(wanted)
    resolvable = {
        number: [each for each in others if each in wanted and (each, number) not in waits and each != number]
        for number, others in wanted.items()
    }
    assert unresolvable(written(wanted)) == {
        number: lost
        for number, others in wanted.items()
        if (lost := [each for each in others if each not in resolvable[number]])
    }

    def earliest(number: int) -> int:
        return max((earliest(each) + 1 for each in resolvable[number]), default=0)

    order = rounds(written(wanted))
    assert sorted(number for ready in order for number in ready) == sorted(wanted)
    assert all(order)
    assert {number: at for at, ready in enumerate(order) for number in ready} == {
        number: earliest(number) for number in wanted
    }


@given(
    st.lists(st.text("ab ?'\\{", min_size=1, max_size=4), min_size=1, max_size=6),
    st.dictionaries(st.integers(1, 12), st.text("a#12 .\n", max_size=6), max_size=5),
    st.randoms(use_true_random=False),
)
def test_what_is_filled_in_is_never_read_again(
    texts: list[str], answers: dict[int, str], draw: Random
) -> None:
    numbers = [draw.randint(1, 12) for _ in texts]
    expected = ""
    for text, number in zip(texts, numbers, strict=True):
        given = " ".join(answers.get(number, "").split()).removesuffix(".")
        expected += f" {text} {given or f'#{number}'} "
    quiz = "".join(f" {text} #{number} " for text, number in zip(texts, numbers, strict=True))
    assert filled_in(quiz, answers) == expected
