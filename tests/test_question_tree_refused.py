"""The question tree: what cannot be read as it is meant is refused with a reason, never guessed at."""

import json
from typing import Any

import pytest
from effort import effort
from hypothesis import given, settings
from hypothesis import strategies as st
from written_trees import TABLE_14, Queries

from knowwhen.nodes import faulty_json
from knowwhen.nodes.question_tree import NoTree, read_tree

QUESTION = "Which film?"


def refusal(reply: str) -> str:
    with pytest.raises(NoTree) as caught:
        read_tree(reply, QUESTION)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def asks(*questions: Any) -> str:
    """Queries beside each other that ask these questions."""
    return json.dumps({f"query{number}": {"question": each} for number, each in enumerate(questions, 1)})


def nested(depth: int) -> str:
    """Queries below each other."""
    tree: dict[str, Any] = {}
    for number in range(depth, 0, -1):
        tree = {f"query{number}": {"question": f"Question {number}?", "children": tree}}
    return json.dumps(tree)


def beside(count: int) -> str:
    return asks(*(f"Question {number}?" for number in range(1, count + 1)))


def chained(count: int) -> str:
    """Queries beside each other of which each refers to the one before."""
    return asks("Who?", *(f"Who is it of #query{number}?" for number in range(1, count)))


def test_as_much_as_is_allowed_is_read() -> None:
    assert len(read_tree(beside(64), QUESTION)) == 64
    assert read_tree(nested(8), QUESTION)[-1]["id"] == "1.1.1.1.1.1.1.1.1"
    assert len(read_tree(chained(10), QUESTION)) == 10


A, B, OTHER = '"query1": {"question": "A?"}', '"query2": {"question": "B?"}', '"query1": {"question": "B?"}'
FAULTY = '"query1": {"question": "A?",}'
REFUSED = {
    "65 queries": (beside(65), "65 queries are more than 64"),
    "nine deep": (nested(9), "the tree is more than 8 deep"),
    "100 deep": (nested(100), "the tree is more than 8 deep"),
    "a chain of eleven": (chained(11), "a chain of 11 queries is longer than 10"),
    "an unknown reference": (asks("A of #query3?"), "query1 refers to #3, which is not there"),
    "a reference without a number": (asks("A of #queryX?"), "query1 cannot be read: 'A of #queryX?'"),
    "a reference to itself": (asks("A of #query1?"), "query1 refers to #1 in a circle"),
    "a circle": (asks("A of #query2?", "B of #query1?"), "query1 refers to #2 in a circle"),
    "a reference alone": (asks("A?", "#query1"), "query2 has no question"),
    "an empty question": (asks(""), "query1 has no question"),
    "a blank question": (asks(" \n"), "query1 has no question"),
    "a question mark": (asks("?"), "query1 has no question"),
    "a null question": (asks(None), "query1 has no question"),
    "a number": (asks(5), "query1 has no question"),
    "a truth value": (asks(True), "query1 has no question"),
    "questions in a list": (asks(["A?", "B?"]), "query1 has no question"),
    "a question in an object": (asks({"text": "A?"}), "query1 has no question"),
    "a number among queries": ('[{"question": 5}, {"question": "A?"}]', "a query has no question"),
    "no question": (f'{{"query1": {{"children": {{{B}}}}}}}', "query1 has no question"),
    "an empty node": (f'{{"query1": {{}}, {B}}}', "query1 has no question"),
    "an empty string": (f'{{"query1": "", {B}}}', "query1 has no question"),
    "null": (f'{{"query1": null, {B}}}', "query1 has no question"),
    "no text": ("", "no JSON in ''"),
    "blanks": (" \n ", "no JSON in"),
    "no JSON": ("I cannot divide this question.", "no JSON in 'I cannot divide this question.'"),
    "braces in prose": ("The answer is {X}, see [1].", "no JSON in"),
    "an empty object": ("{}", "no JSON in '{}'"),
    "other JSON": ('{"answer": "Alba", "confidence": 0.9}', "no query in"),
    "an empty list": ('{"queries": []}', "no query in"),
    "a query below itself": (nested(2).replace("query2", "query1"), "query1 is there twice"),
    "a name twice": (f"{{{A}, {OTHER}}}", "query1 is there twice"),
    "the same query twice": (f"{{{A}, {A}}}", "query1 is there twice"),
    "a name twice, with a fault": (f"{{{FAULTY}, {OTHER}}}", "query1 is there twice"),
    "a name twice in a list": (f"[{{{A}}}, {{{OTHER}}}]", "query1 is there twice"),
    "a name twice in single quotes": (f"{{{A}, {OTHER}}}".replace('"', "'"), "query1 is there twice"),
    "a name twice without quotes": ('{query1: {question: "A?"}, query1: "B?"}', "query1 is there twice"),
    "a name in two spellings": (f'{{{A}, "Query 1": {{"question": "B?"}}}}', "query1 is there twice"),
    "two objects with one name": (f"{{{A}}}\n{{{OTHER}}}", "query1 is there twice"),
    "two faulty objects with one name": (f"{{{FAULTY}}}\n{{{FAULTY}}}", "query1 is there twice"),
    "two questions": ('{"query1": {"question": "A?", "question": "B?"}}', "query1 has two questions"),
    "some without numbers": (f'{{{A}, "then": {{"question": "B?"}}}}', "'B?' has no number, and others have"),
    "a string without a number": ('{"query1": "A?", "then": "B?"}', "'B?' has no number, and others have"),
    "numbers of two parts": (f"{{{A}, {B.replace('2', '1.2')}}}", "'B?' has no number, and others have"),
    "children only named": (
        f'{{"query1": {{"question": "A?", "children": ["query2"]}}, {B}}}',
        "the children of query1 cannot be read",
    ),
    "children in words": (
        '{"query1": {"question": "A?", "children": "its director"}}',
        "the children of query1 cannot be read",
    ),
    "the question among the queries": (asks(QUESTION, "A?"), "the queries repeat the question"),
    "JSON in a question": (
        "{query1: {question: Who is A?, children: {query2: {question: B?}}}}",
        "query1 cannot be read: ",
    ),
    "a thousand objects deep": ('{"a": ' * 1000 + '"A?"' + "}" * 1000, "nested too deeply"),
    "a thousand lists deep": ("[" * 1000 + '"A?"' + "]" * 1000, "nested too deeply"),
    "a thousand objects deep, faulty": ('{"a": ' * 1000 + '"A?",' + "}" * 1000, "nested too deeply"),
    "many lists below a query": ('{"query1": ' + "[" * 9000 + '"A?"' + "]" * 9000 + "}", "nested too deeply"),
    "brackets that are no JSON": ('{"query1": ' + "(" * 2000 + ")" * 2000 + "}", "no JSON can be made of"),
    "a huge reply": (beside(2000), "letters is too long"),
    "a huge faulty reply": (f'{{"query1": {{"question": "{"A " * 5000}?",}}}}', "faulty JSON are too many"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_used_is_refused_with_a_reason(reply: str, reason: str) -> None:
    assert reason in refusal(reply)


LONG = '{"query1": {"question": "Who directed Alba?", "children": {"query2": {"question": "When?"}}}}'
CUT_OFF = {
    "in a question": LONG[:40],
    "behind a question": LONG[:45],
    "in a name": LONG[:66],
    "behind a name": LONG[:72],
    "behind a comma": f"{{{A},",
    "behind a comma, on the next line": f"{{{A},\n",
    "in the next name": f'{{{A},\n  "que',
    "behind the next name": f'{{{A}, "query2":',
    "behind braces that are no node's": f'{{{A}, "query2": {{"question": "B of #{{query1}}',
    "in a fence": f'```json\n{{{A}, "query2": {{"ques\n```',
    "within many braces": LONG[:-3],
    "in a list": '["A?", "B',
    "in a list of nodes": '[{"question": "A?"}, "B',
}


@pytest.mark.parametrize("reply", CUT_OFF.values(), ids=CUT_OFF.keys())
def test_a_tree_that_is_cut_off_is_refused(reply: str) -> None:
    assert refusal(reply) == "the JSON is cut off"


def read_or_refused(reply: str) -> Queries | str:
    try:
        return [(each["number"], each["question"], each["id"]) for each in read_tree(reply, QUESTION)]
    except NoTree as error:
        assert str(error) and "\n" not in str(error)
        return str(error)


def sound(told: Queries | str) -> bool:
    """Whether it is a reason, or a tree of one to 64 queries that ask something under ids of their own."""
    if isinstance(told, str):
        return True
    ids = {each for _, _, each in told}
    return len(ids) == len(told) and 1 <= len(told) <= 64 and all(asked.strip() for _, asked, _ in told)


@given(st.integers(1, len(TABLE_14) - 1))
def test_of_a_tree_that_is_cut_off_no_query_is_made_up(end: int) -> None:
    """Cut off behind a whole node it may be taken for one that lacks braces; within a node it is not."""
    told = read_or_refused(TABLE_14[:end])
    if isinstance(told, list):
        assert TABLE_14[:end].rstrip().endswith("}")
        assert told == read_or_refused(TABLE_14)[: len(told)]


@pytest.mark.parametrize(
    "piece", ['"a" b "c", ', '{"a": "b', '["a" "b", ', "[{", "(", "{'a': 'it's', ", "// "]
)
@pytest.mark.parametrize("before", ['{"query1": {"question": "', '["', ""])
def test_a_long_reply_takes_no_longer_than_the_longest_that_is_repaired(before: str, piece: str) -> None:
    def seconds(length: int) -> float:
        return effort(lambda: read_or_refused((before + piece * length)[:length]), rounds=1)

    bound = 1 + 2 * seconds(faulty_json.MOST_FAULTY)
    assert any(seconds(faulty_json.LONGEST) <= bound for _ in range(3))  # mostly at once


@given(st.text())
def test_no_text_is_an_accident(reply: str) -> None:
    assert sound(read_or_refused(reply))


MARKS = [*"{}[]\"'`“”:,#?\\\n/*() ", "```json\n", "</think>", "\ue000", "\ue001"]
NAMES = ["query1", "query2", "#query1", "question", "children"]
PIECES = [*MARKS, *NAMES, "A?", "null", "1", '"query1": {"question": "', '"}', LONG]


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_text_that_looks_like_a_tree_is_an_accident(reply: str) -> None:
    assert sound(read_or_refused(reply))
