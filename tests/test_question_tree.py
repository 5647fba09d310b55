"""The question tree: whatever models write, it is read as it is meant."""

import json
import re
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_trees import TABLE_12, TABLE_14, TABLE_15, TABLE_16, Nodes, Queries, Writer, meant, trees

from knowwhen.nodes.question_tree import read_tree

TWO = [(1, "Who directed Alba?", "1.1"), (2, "When was #1 born?", "1.1.1")]
BESIDE = [(1, "A?", "1.1"), (2, "B #1?", "1.2")]
FIRST, SECOND = '{"question": "Who directed Alba?"', '{"question": "When was #query1 born?"}'
PLAIN = f'{{"query1": {FIRST}, "children": {{"query2": {SECOND}}}}}}}'


def read(reply: str, question: str = "Which film?") -> Queries:
    """Number, question and id of every query; each id's parent is the id that it goes on from."""
    queries = read_tree(reply, question)
    assert all(query["parent"] == query["id"].rpartition(".")[0] for query in queries)
    return [(query["number"], query["question"], query["id"]) for query in queries]


@pytest.mark.parametrize(
    ("table", "queries"),
    [
        (
            TABLE_12,
            [
                (1, "What is the nationality of Han Sai Por?", "1.1"),
                (2, "What is the nationality of Gabriele Oettingen?", "1.1.1"),
            ],
        ),
        (
            TABLE_14,
            [
                (1, "Who directed the film The Carousel Of Death?", "1.1"),
                (2, "What is the birth year of #1?", "1.1.1"),
                (3, "Who directed the film Nameless Star?", "1.2"),
                (4, "What is the birth year of #3?", "1.2.1"),
            ],
        ),
        (
            TABLE_15,
            [
                (1, "Who is the performer of the song Sommer I Palma?", "1.1"),
                (2, "How did Nora Brockstedt die?", "1.1.1"),
            ],
        ),
        (
            TABLE_16["beside"],
            [
                (1, "When was the magazine Arthur's Magazine started?", "1.1"),
                (2, "When was the magazine First for Women started?", "1.2"),
            ],
        ),
        (
            TABLE_16["below, a brace missing"],
            [
                (1, "Who was James Henry Miller's wife?", "1.1"),
                (2, "What is the nationality of #1?", "1.1.1"),
            ],
        ),
        (
            TABLE_16["two films"],
            [
                (1, "Who directed the film Charge It To Me?", "1.1"),
                (2, "What is the birth year of #1?", "1.1.1"),
                (3, "Who directed the film Danger: Diabolik?", "1.2"),
                (4, "What is the birth year of #3?", "1.2.1"),
            ],
        ),
    ],
    ids=["Table 12", "Table 14", "Table 15", *(f"Table 16, {name}" for name in TABLE_16)],
)
def test_the_papers_trees_are_read(table: str, queries: Queries) -> None:
    assert read(table) == queries


FORMS = {
    "plain": PLAIN,
    "fenced": f"```json\n{PLAIN}\n```",
    "fenced without a language": f"```\n{PLAIN}\n```",
    "a fence that is not closed": f"```json\n{PLAIN}",
    "prose around": f"Sure! Here is the tree:\n{PLAIN}\nI hope this helps.",
    "prose with braces before": f'I write {{X}}, { {"a"} } and [1] for answers: {PLAIN}',
    "prose with braces behind": f'{PLAIN}\nwhere {{X}} is the answer, see [1] and {{"a"}}.',
    "prose with pairs behind": f'{PLAIN}\nHope {{this}} helps: "yes", it\'s {{"status": "done"}}.',
    "prose and fences": f'Let\'s see: "tree":\n```json\n{PLAIN}\n```\nDone: {{ok}}.',
    "a thought before": f'<think>{{"query1": {{"question": "A draft?"}}}}</think>\n{PLAIN}',
    "trailing commas": PLAIN.replace("}}}}", ",},},},},"),
    "single quotes": PLAIN.replace('"', "'"),
    "typographic quotes": re.sub('"([^"]*)"', r"“\1”", PLAIN),
    "names without quotes": PLAIN.replace('"query1"', "query1").replace('"question"', "question"),
    "Windows line ends": json.dumps(json.loads(PLAIN), indent=2).replace("\n", "\r\n"),
    "several lines": json.dumps(json.loads(PLAIN), indent=4),
    "a question on two lines": PLAIN.replace("Who directed", "Who\n    directed"),
    "comments": PLAIN.replace("{", "{ // the director's\n").replace("}}}}", "} /* end */ }\n# end\n}}"),
    "a comma missing": PLAIN.replace('", "', '" "'),
    "a brace missing": PLAIN[:-1],
    "two braces missing": PLAIN[:-2],
    "a brace missing in a fence": f"```json\n{PLAIN[:-1]}\n```",
    "a brace missing before prose": f"{PLAIN[:-1]}\n\nThat is the tree.",
    "a brace missing before prose on Windows": f"{PLAIN[:-1]}\r\n\r\nThat is the tree.",
    "braces too many": f"{PLAIN}}}}}",
    "children in a list": PLAIN.replace('{"query2"', '[{"query2"').replace("}}}}", "}}]}}"),
    "a list at the top": f"[{PLAIN}]",
    "a wrapper": f'{{"queries": {PLAIN}}}',
    "a wrapper that is called a question": f'{{"question": {PLAIN}}}',
    "wrappers": f'{{"tree": {{"queries": [{PLAIN}]}}}}',
    "beside other things": f'{{"note": "a bridge", "hops": 2, "queries": {PLAIN}}}',
    "a root that repeats the question": f'{{"question": "Which film?", "children": {PLAIN}}}',
    "a numbered root that repeats it": f'{{"query0": {{"question": "which film", "children": {PLAIN}}}}}',
    "a root with the queries beside its question": '{"question": "Which film?", ' + PLAIN[1:],
    "a child without a wrapper": PLAIN.replace('"children": {', "").removesuffix("}"),
    "children under another name": PLAIN.replace("children", "Sub-Queries"),
    "an empty list of children": PLAIN.replace('born?"', 'born?", "children": []'),
    "an empty object of children": PLAIN.replace('born?"', 'born?", "children": {}'),
    "null children": PLAIN.replace('born?"', 'born?", "children": null'),
    "other things in a node": PLAIN.replace('born?"', 'born?", "answer": "?", "needs": ["query1"], "hop": 2'),
    "other case": PLAIN.replace("query", "Query").replace("question", "Question").replace("child", "CHILD"),
    "a string for a node without children": PLAIN.replace(SECOND, '"When was #query1 born?"'),
}  # fmt: skip


@pytest.mark.parametrize("reply", FORMS.values(), ids=FORMS.keys())
def test_a_tree_is_read_however_it_is_written(reply: str) -> None:
    assert read(reply) == TWO


@pytest.mark.parametrize(
    "reference",
    ["#query1", "#Query1", "#query 1", "#query_1", "#query-1", "# query1", "#{query1}", "{query1}", "query1",
     "#{ query_1 }", "#1", "#{1}", "#QUERY1", "#question1", "#answer1", "#q1", "#Q1"],
)  # fmt: skip
def test_a_reference_is_read_however_it_is_spelled(reference: str) -> None:
    assert read(PLAIN.replace("#query1", reference)) == TWO
    possessive = read(PLAIN.replace("#query1", f"{reference}'s mother"))
    assert possessive == [TWO[0], (2, "When was #1's mother born?", "1.1.1")]


@pytest.mark.parametrize("text", ["in C# 7", "on #FilmFriday", "by Agent 1", "on channel #2020", "as no. 1"])
def test_what_is_no_reference_stays(text: str) -> None:
    assert read(f'{{"query1": {{"question": "Who was {text}?"}}}}') == [(1, f"Who was {text}?", "1.1")]


@pytest.mark.parametrize(
    "name", ["Query {}", "query_{}", "q{}", "QUERY-{}", "sub_query{}", "{}", "#query{}", "Query {}:"]
)
def test_names_are_read_however_they_are_spelled(name: str) -> None:
    named = re.sub(r'"query(\d)"', lambda found: f'"{name.format(found[1])}"', PLAIN)
    assert read(named) == TWO


NUMBERS = {
    "gaps": (
        '{"query2": {"question": "A?", "children": {"query7": {"question": "B #query2?"}}}}',
        [(2, "A?", "1.1"), (7, "B #2?", "1.1.1")],
    ),
    "backwards": (
        '{"query2": {"question": "A #query1?"}, "query1": {"question": "B?"}}',
        [(2, "A #1?", "1.1"), (1, "B?", "1.2")],
    ),
    "no numbers": ('{"first": {"question": "A?"}, "then": {"question": "B #query1?"}}', BESIDE),
    "no names": (
        '[{"question": "A?", "children": [{"question": "B #1?"}]}, {"question": "C #2?"}]',
        [(1, "A?", "1.1"), (2, "B #1?", "1.1.1"), (3, "C #2?", "1.2")],
    ),
    "numbers within": (
        '[{"id": 2, "question": "A #3?"}, {"id": "query3", "question": "B?"}]',
        [(2, "A #3?", "1.1"), (3, "B?", "1.2")],
    ),
    "numbers within a wrapper": (
        '{"queries": [{"id": 2, "question": "A #3?"}, {"id": "query3", "question": "B?"}]}',
        [(2, "A #3?", "1.1"), (3, "B?", "1.2")],
    ),
    "names within": (
        '[{"query": "query2", "question": "A #3?"}, {"query": "query3", "question": "B?"}]',
        [(2, "A #3?", "1.1"), (3, "B?", "1.2")],
    ),
    "objects in a list": ('[{"query1": {"question": "A?"}}, {"query2": {"question": "B #query1?"}}]', BESIDE),
    "strings": ('{"query1": "A?", "query2": "B #query1?"}', BESIDE),
    "strings in a list": ('["A?", "B #1?"]', BESIDE),
    "strings without question marks": (
        '["Director of A?", "Birth year of #1"]',
        [(1, "Director of A?", "1.1"), (2, "Birth year of #1", "1.2")],
    ),
    "two objects": ('{"query1": {"question": "A?"}}\n{"query2": {"question": "B #query1?"}}', BESIDE),
    "two, one faulty": ('{"query1": {"question": "A?"}}\n{"query2": {"question": "B #query1?",}}', BESIDE),
    "two, both faulty": ('{"query1": {"question": "A?",}}\n{"query2": {"question": "B #query1?",}}', BESIDE),
    "a query that is the question": ('{"query1": {"question": "Which film?"}}', [(1, "Which film?", "1.1")]),
}


@pytest.mark.parametrize(("reply", "queries"), NUMBERS.values(), ids=NUMBERS.keys())
def test_queries_keep_their_numbers_or_get_those_of_their_places(reply: str, queries: Queries) -> None:
    assert read(reply) == queries


TEXTS = [
    "Who is Arthur's wife?",
    "Was it the Smiths' song?",
    "Who is O'Neill's sister's friend?",
    "Who directed Danger: Diabolik?",
    "Who wrote A, B, and [C]?",
    "Who made “Alien”, ‘Aliens’ and „Heimat“ at http://a.b/c // 1 # 2?",
    "Wer schrieb „Die Verwandlung“ – und wo? 東京 é 😀",
    "What is 5:3?",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "written",
    [
        lambda text: f'{{"query1": {{"question": "{text}"}}}}',
        lambda text: f'{{"query1": {{"question": "{text}",}},}}',
        lambda text: f"{{'query1': {{'question': '{text}'}}}}",
        lambda text: f"{{'query1': {{'question': \"{text}\",}},}}",
        lambda text: json.dumps({"query1": {"question": text}}),
    ],
    ids=["plain", "trailing commas", "single quotes", "mixed quotes", "escapes"],
)
def test_a_questions_punctuation_is_not_the_jsons(text: str, written: Callable[[str], str]) -> None:
    assert read(written(text)) == [(1, text, "1.1")]


@pytest.mark.parametrize(
    "text", ['Who directed "Alien" in 1979?', 'Is "A", "B" or "C" older?', 'Who: "Alien"?']
)
@pytest.mark.parametrize("quoted", [json.dumps, lambda text: f'"{text}"'], ids=["escaped", "as they are"])
def test_quotation_marks_in_a_question_stay(text: str, quoted: Callable[[str], str]) -> None:
    reply = f'{{"query1": {{"question": {quoted(text)}, "children": {{"query2": {{"question": "B?"}}}}}}}}'
    assert read(reply) == [(1, text, "1.1"), (2, "B?", "1.1.1")]


@settings(max_examples=400)
@given(trees(), st.randoms(use_true_random=False))
def test_a_tree_is_read_back_whatever_is_wrong_with_its_json(nodes: Nodes, rng: Random) -> None:
    reply = Writer(rng).written(nodes)
    assert read(reply) == meant(nodes), reply
