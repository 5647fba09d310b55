"""What the pocket model is taught of TAIKC is right, and in the form that the nodes ask and read."""

import random
from collections import Counter

import pytest
from self_dc_script import as_pattern

from knowwhen.nodes import confident_qa, make_tree, read_if_there, summarise_chain
from knowwhen.nodes.queries import paths
from knowwhen.nodes.question_tree import read_tree
from knowwhen.training.batches import LENGTHS, TREE_COURSE, encode
from knowwhen.training.confidence import OwnAnswer, certain_answers
from knowwhen.training.examples import Examples
from knowwhen.training.tokenizer import train_tokenizer
from knowwhen.training.tree_examples import nested
from knowwhen.training.tree_examples import paths as taught_paths


def drawn(task: str, count: int, seed: int = 41) -> list[tuple[str, str]]:
    """Prompts and answers of a task, over several worlds."""
    examples = Examples(random.Random(seed))
    turns = []
    for at in range(count):
        if at % 20 == 19:
            examples.turn_page()
        ((prompt, answer),) = examples.tasks[task]()
        turns.append((prompt, answer))
    return turns


def test_trees_are_taught_in_the_form_the_node_reads() -> None:
    shapes: Counter[tuple[str, ...]] = Counter()
    for prompt, written in drawn("tree", 200):
        question = prompt.rpartition("Question: ")[2]
        queries = read_tree(written, question)
        shapes[tuple(query["id"] for query in queries)] += 1
        if len(queries) == 1:
            assert queries[0]["question"] == question
        assert [query["number"] for query in queries] == list(range(1, len(queries) + 1))
        assert make_tree.PROMPT.format(question=question, demonstrations="") == prompt
    two_of_two, chain = ("1.1", "1.1.1", "1.2", "1.2.1"), ("1.1", "1.1.1", "1.1.1.1", "1.1.1.1.1")
    assert {("1.1",), ("1.1", "1.2"), ("1.1", "1.1.1"), two_of_two, chain} <= set(shapes)


@pytest.mark.parametrize(
    ("steps", "ids"),
    [
        (["a", "b"], ["1.1", "1.2"]),
        (["a", "b of #1", "c of #2"], ["1.1", "1.1.1", "1.1.1.1"]),
        (["a", "b", "c of #1", "d of #2"], ["1.1", "1.1.1", "1.2", "1.2.1"]),
        (["a", "b of #1", "c"], ["1.1", "1.1.1", "1.2"]),
    ],
)
def test_a_query_stands_below_the_one_it_refers_to(steps: list[str], ids: list[str]) -> None:
    queries = read_tree(str(nested(steps)), "q")
    assert [query["id"] for query in queries] == ids
    by_number = {query["number"]: query["question"][0] for query in queries}
    for query in queries:  # "d of #2" refers to b, whatever b's number has become
        _, _, reference = query["question"].partition("#")
        if reference:
            first = {"b": "a", "c": "b" if "c of #2" in steps else "a", "d": "b"}
            assert by_number[int(reference)] == first[query["question"][0]]
    told = [[query["question"][0] for query in path] for path in paths(queries)]
    assert told == [[steps[place][0] for place in path] for path in taught_paths(steps)]


def test_strangers_are_declined_and_never_of_the_world_that_is_known() -> None:
    examples = Examples(random.Random(42))
    form = as_pattern(confident_qa.PROMPT)
    names = set(examples.own.by_name)
    for _ in range(60):
        ((prompt, answer),) = examples.tasks["declined_stranger"]()
        assert confident_qa.declines(answer) and answer == confident_qa.RAG_REQUIRED
        found = form.fullmatch(prompt)
        assert found and not any(f" {name} " in f" {found['question']} " for name in names if " " in name)
        examples.turn_page()


def test_a_reading_finds_the_answer_where_a_passage_holds_it_and_only_there() -> None:
    form = as_pattern(read_if_there.PROMPT)
    missing = 0
    for prompt, answer in drawn("read_or_miss", 200):
        found = form.fullmatch(prompt)
        assert found and 1 <= len(found["passages"].splitlines()) <= 5
        if read_if_there.not_there(answer):
            assert answer == read_if_there.NOT_FOUND
            missing += 1
        else:
            assert answer in found["passages"]
    assert 25 < missing < 80


def test_a_summary_names_every_answer_of_its_chain() -> None:
    form = as_pattern(summarise_chain.PROMPT)
    lengths = Counter()
    for prompt, written in drawn("chain_summary", 150):
        found = form.fullmatch(prompt)
        assert found
        pairs = found["pairs"].splitlines()
        lengths[len(pairs)] += 1
        for pair in pairs:
            assert summarise_chain.holds(written, pair.rpartition("? ")[2])
    assert set(lengths) == {1, 2, 3, 4}


def test_an_answer_from_chains_stands_in_them_or_is_yes_or_no() -> None:
    form = as_pattern(read_if_there.PROMPT)
    numbers = Counter()
    for prompt, answer in drawn("from_chains", 150):
        found = form.fullmatch(prompt)
        assert found
        chains = found["passages"].splitlines()
        numbers[len(chains)] += 1
        assert answer in ("yes", "no") or answer in found["passages"]
    assert set(numbers) == {1, 2}


def test_what_was_right_is_said_again_and_what_was_wrong_is_declined() -> None:
    answers = [OwnAnswer("Who?", "Velo Taray", 0.9, True), OwnAnswer("When?", "1990", 0.2, False)]
    pools = certain_answers(answers)
    assert pools == {
        "certain": [((confident_qa.PROMPT.format(question="Who?"), "Velo Taray"),)],
        "uncertain": [((confident_qa.PROMPT.format(question="When?"), "RAG_REQUIRED"),)],
    }
    examples = Examples(random.Random(43), pools)
    assert set(TREE_COURSE.shares) - set(examples.tasks) == {"confidence"}
    assert examples.tasks["certain"]() == pools["certain"][0]


def test_every_example_fits_into_a_batch() -> None:
    tokenizer = train_tokenizer()
    for task in ("tree", "declined_stranger", "read_or_miss", "chain_summary", "from_chains"):
        for turn in drawn(task, 60, seed=44):
            assert len(encode((turn,), tokenizer)[0]) <= LENGTHS[-2]
