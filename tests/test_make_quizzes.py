"""Quizzes are read from whatever list a model writes; what are none leave the question whole."""

from typing import Any

import pytest
from effort import effort
from hypothesis import given
from hypothesis import strategies as st
from keqa_script import BORN, FIRST, SECOND, Pupil, Q, Story, ask, build, step
from self_dc_script import Shelf, notes, routes

from knowwhen.nodes.make_quizzes import MOST_QUIZZES, MOST_ROUNDS, read_quizzes, why_not
from knowwhen.nodes.quiz_demonstrations import DEFAULT, QuizDemonstration, as_text
from knowwhen.nodes.references import unresolvable

TWO = {1: FIRST, 2: SECOND}

LISTS = {
    "one line each": f"#1: {FIRST}\n#2: {SECOND}",
    "all on one line": f"#1: {FIRST} #2: {SECOND}",
    "with commas": f"#1: {FIRST}, #2: {SECOND}",
    "in brackets": f"#1: [{FIRST}]\n#2: [{SECOND}]",
    "bold": f"**#1:** {FIRST}\n**#2:** {SECOND}",
    "without a colon": f"#1 {FIRST}\n#2 {SECOND}",
    "with a dash": f"#1 - {FIRST}\n#2 - {SECOND}",
    "with a dot": f"#1. {FIRST}\n\n#2. {SECOND}",
    "below its mark": f"#1:\n{FIRST}\n#2:\n{SECOND}",
    "headings": f"### 1: {FIRST}\n### 2: {SECOND}",
    "numbered": f"1. {FIRST}\n2. {SECOND}",
    "numbered on one line": f"1. {FIRST} 2. {SECOND}",
    "with brackets behind": f"1) {FIRST}\n2) {SECOND}",
    "within brackets": f"(1) {FIRST}\n(2) {SECOND}",
    "named": f"Question 1: {FIRST}\nQuestion 2: {SECOND}",
    "Q": f"Q1: {FIRST}\nQ2: {SECOND}",
    "bulleted": f"- {FIRST}\n- {SECOND}",
    "starred": f"* {FIRST}\n  * {SECOND}",
    "with reasons": f"1. **{FIRST}**\n   - a film has one\n2. **{SECOND}**\n   - as asked",
    "prose around": f"Sure!\n\n#1: {FIRST}\n#2: {SECOND}\n\nWith #1 and #2 the question is answered.",
    "in prose": f"First we need the director:\n{FIRST}\nand then, with that answer:\n{SECOND}\nThat is all.",
    "code fence": f"```\n#1: {FIRST}\n#2: {SECOND}\n```",
    "json": f'["{FIRST}", "{SECOND}"]',
    "json in a fence": f'```json\n[\n  "{FIRST}",\n  "{SECOND}"\n]\n```',
    "json object": f'{{"#1": "{FIRST}", "#2": "{SECOND}"}}',
    "json objects": f'[{{"id": 1, "quiz": "{FIRST}"}}, {{"id": 2, "quiz": "{SECOND}"}}]',
    "quoted": f'#1: "{FIRST}"\n#2: "{SECOND}"',
    "bare lines": f"{FIRST}\n{SECOND}",
    "windows line ends": f"#1: {FIRST}\r\n#2: {SECOND}\r\n",
    "the question before": f"Question: {Q}\n#1: {FIRST}\n#2: {SECOND}",
    "a number twice": f"#1: {FIRST}\n#1: {SECOND}",
    "a number without a quiz": f"#1: {FIRST}\n#2: {SECOND}\n#3:",
}


@pytest.mark.parametrize("reply", LISTS.values(), ids=LISTS.keys())
def test_the_same_two_quizzes_are_read_from_every_list(reply: str) -> None:
    quizzes = read_quizzes(reply)
    assert quizzes == TWO
    assert unresolvable(quizzes) == {}
    assert why_not(Q, quizzes, reply) is None


@pytest.mark.parametrize(
    ("reply", "numbers"),
    [
        (f"#2: {FIRST}\n#5: Where was #2 born?", [2, 5]),
        (f"2. {FIRST}\n5. Where was #2 born?", [2, 5]),
        (f"#0: {FIRST}\n#1: Where was #0 born?", [0, 1]),
        (f"#10: {FIRST}\n#1: Where was #10 born?", [10, 1]),
    ],
)
def test_numbers_with_gaps_stay_what_references_call_the_quizzes(reply: str, numbers: list[int]) -> None:
    assert list(read_quizzes(reply)) == numbers
    model = Pupil(Story(reply))
    output = ask(model)
    assert [each.question for each in model.of("assess")] == [FIRST, BORN]
    assert list(routes(output)) == [*(f"1.{number}" for number in numbers), "1"]
    assert notes(output) == {}


@pytest.mark.parametrize(
    "reply",
    [
        f"#1: {FIRST}\n#1: Who wrote Karn?\n#2: {SECOND}",
        f"#1: {FIRST}\n#3: Who wrote Karn?\n#3: {SECOND}",
        f"#4: {FIRST}\n#4: Who wrote Karn?\n#4: {SECOND}",
    ],
)
def test_where_a_number_comes_twice_the_places_count(reply: str) -> None:
    assert read_quizzes(reply) == {1: FIRST, 2: "Who wrote Karn?", 3: SECOND}


def numbered(count: int, quiz: str = "Who was the {}th?") -> str:
    return "\n".join(f"#{i}: {quiz.format(i, i - 1)}" for i in range(1, count + 1))


def chain(length: int) -> str:
    return numbered(1) + "".join(f"\n#{i}: Who was the mother of #{i - 1}?" for i in range(2, length + 1))


REFUSED = {
    "": "no quiz in ''",
    "I cannot split this.": "no quiz in 'I cannot split this.'",
    "#1:\n#2:": "no quiz in",
    f"#1: {FIRST}\n#2: {Q}": "the quizzes repeat the question",
    f"#1: {FIRST}\n#2: where was THE director of  karn born": "the quizzes repeat the question",
    numbered(MOST_QUIZZES + 1): f"{MOST_QUIZZES + 1} quizzes are more than {MOST_QUIZZES}",
    numbered(1000): f"1000 quizzes are more than {MOST_QUIZZES}",
    chain(MOST_ROUNDS + 1): f"a chain of {MOST_ROUNDS + 1} quizzes is longer than {MOST_ROUNDS}",
    "It depends.\n" * 1000: "no quiz in 'It depends. It depends.",
}


@pytest.mark.parametrize(("reply", "reason"), REFUSED.items(), ids=[reply[:20] for reply in REFUSED])
def test_what_are_no_quizzes_leaves_the_question_whole_and_the_step_says_why(reply: str, reason: str) -> None:
    model = Pupil(Story(reply, knows={Q: "Zeno"}))
    output = ask(model)
    assert [each.task for each in model.asked] == ["make_quizzes", "assess"]
    assert [(each["id"], each["parent"], each["answer"]) for each in output["steps"]] == [("1", None, "Zeno")]
    (note,) = notes(output)["1"]
    assert note.startswith("not divided, ") and note.endswith(": asked whole") and reason in note
    assert "\n" not in note and len(note) < 300


@pytest.mark.parametrize("reply", [numbered(MOST_QUIZZES), chain(MOST_ROUNDS)])
def test_as_many_and_as_long_as_may_be_are_quizzes(reply: str) -> None:
    assert why_not(Q, read_quizzes(reply), reply) is None
    assert notes(ask(Story(reply))) == {}


@pytest.mark.parametrize("reply", [f"#1: {Q}", Q, "#1: Who is it?", '["Who is it?"]', "#1: Who is #1?"])
def test_of_one_quiz_the_question_is_asked_whole_and_nothing_is_summarised(reply: str) -> None:
    model = Pupil(Story(reply))
    output = ask(model)
    assert {each.question for each in model.asked if each.task != "judge"} == {Q}
    assert model.of("summarise") == [] and notes(output) == {}
    (only,) = output["steps"]
    assert (only["id"], only["parent"], only["question"], only["resolved"]) == ("1", None, Q, Q)
    assert only["route"] == "retrieve" and only["score"] == 0.2
    assert (output["answer"], output["confidence"]) == (only["answer"], only["score"]) == ("Zeno", 0.2)
    assert output["explanation"] == "from [2] Title 2; [5] Title 5"


def test_a_question_that_is_its_own_quiz_has_no_references() -> None:
    asked = "Who sang the #1 hit of 1982, and who #2?"
    model, shelf = Pupil(Story((), knows={asked: "Alba"})), Shelf()
    output = ask(model, shelf, question=asked)
    assert routes(output) == {"1": "confident"} and notes(output) == {} and shelf.queries == []
    assert step(output, "1")["resolved"] == asked


def test_the_question_stands_behind_the_demonstrations() -> None:
    model = Pupil(Story())
    ask(model, demonstrations=DEFAULT)
    (made,) = model.of("make_quizzes")
    assert made.question == Q and made.shows == {"demonstrations": as_text(DEFAULT)}
    assert model.prompts[0].endswith(f"{as_text(DEFAULT[-1:])}Question: {Q}")


def test_the_projects_own_demonstrations_are_written_as_they_are_read() -> None:
    for shown in DEFAULT:
        text = as_text([shown])
        quizzes = read_quizzes(text)
        assert text == f"Question: {shown.question}\n" + text.split("\n", 1)[1] and text.endswith("\n\n")
        assert tuple(quizzes.values()) == shown.quizzes and list(quizzes) == list(range(1, len(quizzes) + 1))
        assert unresolvable(quizzes) == {} and why_not(shown.question, quizzes, text) is None
    assert {len(shown.quizzes) > 1 for shown in DEFAULT} == {True, False}
    assert as_text([]) == ""


@pytest.mark.parametrize("field", [{"question": ""}, {"quizzes": []}, {"quizzes": ["a\nb"]}, {"note": "x"}])
def test_a_demonstration_has_a_question_and_quizzes_of_one_line(field: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(field))):
        QuizDemonstration(**({"question": Q, "quizzes": [FIRST]} | field))


@pytest.mark.parametrize("question", ["What is {x}?", "{demonstrations} {0} }{", "Who?\n#1: Who?\n", "#1"])
def test_a_question_is_data_whatever_it_says(question: str) -> None:
    model = Pupil(Story())
    output = build(model).invoke({"question": question})
    assert model.of("make_quizzes")[0].question == question
    assert output["steps"][-1]["question"] == question and output["answer"] == "Zeno"


PIECES = [
    "#1:",
    "#2:",
    "# 3",
    "1.",
    "2)",
    "- ",
    "* ",
    "\n",
    "**",
    "?",
    '"',
    "[",
    "```",
    "Who",
    " ",
    "#2",
    "#9",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join))
def test_any_reply_gives_quizzes_that_are_single_lines_of_it(text: str) -> None:
    quizzes = read_quizzes(text)
    why_not(Q, quizzes, text)
    for quiz in quizzes.values():
        assert quiz.strip() == quiz != ""
        assert len(quiz.splitlines()) == 1
        assert "".join(quiz.split()) in "".join(text.split())


def test_a_reply_of_many_quizzes_takes_no_more_than_its_length() -> None:
    texts = [numbered(count, "Who was #{1}?") for count in (1_000, 20_000)]
    short, long = (effort(lambda text=text: why_not(Q, read_quizzes(text), text)) for text in texts)
    assert long <= 100 * short  # 400 times, were it the square
