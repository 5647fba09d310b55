"""Knowledge chains: the paths of a tree, what was asked and answered on each, what a summary holds of it."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.nodes.queries import AskedChain, Query, TreeState, paths
from knowwhen.nodes.summarise_chain import asked_chain, each_chain, holds, plain_pairs


def tree(*ids: str) -> list[Query]:
    """Queries of these ids, in pre-order, each with its place for a number."""
    return [
        Query(number=number, question=f"Q{number}?", id=id, parent=id.rpartition(".")[0])
        for number, id in enumerate(ids, 1)
    ]


PATHS = {
    "one query": (["1.1"], [["1.1"]]),
    "beside": (["1.1", "1.2"], [["1.1"], ["1.2"]]),
    "below": (["1.1", "1.1.1"], [["1.1", "1.1.1"]]),
    "two and two": (["1.1", "1.1.1", "1.2", "1.2.1"], [["1.1", "1.1.1"], ["1.2", "1.2.1"]]),
    "a fork": (["1.1", "1.1.1", "1.1.2"], [["1.1", "1.1.1"], ["1.1", "1.1.2"]]),
    "eleven children": ([f"1.{n}" for n in range(1, 12)], [[f"1.{n}"] for n in range(1, 12)]),
    "a root with a long id": (["1.3.2.1", "1.3.2.1.1"], [["1.3.2.1", "1.3.2.1.1"]]),
}


@pytest.mark.parametrize(("ids", "found"), PATHS.values(), ids=PATHS.keys())
def test_every_path_from_the_root_to_a_leaf_is_a_chain(ids: list[str], found: list[list[str]]) -> None:
    assert [[query["id"] for query in path] for path in paths(tree(*ids))] == found


@given(st.lists(st.integers(0, 30), max_size=30))
def test_the_paths_of_any_tree_end_in_its_leaves_in_pre_order(parents: list[int]) -> None:
    below: dict[int, list[int]] = {}
    for place, parent in enumerate(parents, 1):
        below.setdefault(parent % place, []).append(place)

    def walked(place: int, id: str, above: list[str]) -> list[list[str]]:
        """The paths to the leaves below, by a walk through the tree itself."""
        here = [*above, id] if place else []
        branches = [walked(each, f"{id}.{n}", here) for n, each in enumerate(below.get(place, []), 1)]
        return [path for branch in branches for path in branch] or ([here] if here else [])

    def ids(place: int, id: str) -> list[str]:
        children = [ids(each, f"{id}.{n}") for n, each in enumerate(below.get(place, []), 1)]
        return [*([id] if place else []), *(each for child in children for each in child)]

    found = paths(tree(*ids(0, "1")))
    assert [[query["id"] for query in path] for path in found] == walked(0, "1", [])


def answered(questions: dict[str, str], answers: dict[str, str]) -> TreeState:
    """A tree with what its queries ask and, by their ids, what they were answered."""
    queries = tree(*questions)
    for query in queries:
        query["question"] = questions[query["id"]]
    outputs = {id: cast(Any, {"answer": answer}) for id, answer in answers.items()}
    return TreeState(question="Which film?", sub_questions=queries, part_outputs=outputs)


FILMS = {"1.1": "Who directed Alba?", "1.1.1": "When was #1 born?", "1.2": "Was #1 born in #2?"}


def test_a_chain_has_the_questions_as_they_were_asked_with_their_answers() -> None:
    state = answered(FILMS, {"1.1": "Heinz Paul.", "1.1.1": "in 1918", "1.2": "no"})
    sent = [cast(AskedChain, each.arg) for each in each_chain(state)]
    assert sent == [
        AskedChain(
            question="Which film?",
            queries=["1.1", "1.1.1"],
            asked=["Who directed Alba?", "When was Heinz Paul born?"],
            answers=["Heinz Paul.", "in 1918"],
        ),
        AskedChain(
            question="Which film?",
            queries=["1.2"],
            asked=["Was Heinz Paul born in in 1918?"],  # an answer of another chain is filled in, too
            answers=["no"],
        ),
    ]
    assert {each.node for each in each_chain(state)} == {"summarise_chain"}


def test_without_an_answer_the_chain_says_unknown_and_the_reference_stays() -> None:
    state = answered(FILMS, {"1.1": "", "1.1.1": "I don't know.", "1.2": "no"})
    chain = asked_chain(state, state["sub_questions"][:2])
    assert chain["asked"] == ["Who directed Alba?", "When was #1 born?"]
    assert chain["answers"] == ["unknown", "I don't know."]


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        (["Heinz Paul", "1918"], "Who directed Alba? Heinz Paul. When was he born? 1918."),
        (["Heinz Paul.", " in\n1918. "], "Who directed Alba? Heinz Paul. When was he born? in 1918."),
        (["unknown", "Yes"], "Who directed Alba? unknown. When was he born? Yes."),
        (["Mr. {} %s", "\\1"], "Who directed Alba? Mr. {} %s. When was he born? \\1."),
    ],
)
def test_plain_pairs_are_one_line_of_questions_and_answers(answers: list[str], text: str) -> None:
    chain = AskedChain(asked=["Who directed Alba?", "When was he born?"], answers=answers)
    assert plain_pairs(chain) == text


HELD = [
    ("Alba was directed by Heinz Paul.", "Heinz Paul"),
    ("Alba was directed by HEINZ PAUL", "Heinz Paul."),
    ("Alba was directed by “Heinz Paul”.", '"Heinz Paul"'),
    ("Alba was directed by Heinz\nPaul", "Heinz Paul"),
    ("Heinz Paul was born in 1918.", "1918"),
    ("Heinz Paul was born in 1918.", "in 1918"),
    ("Heinz Paul, born in the year 1918, directed it.", "In 1918."),
    ("Heinz Paul (1918–2003) directed Alba.", "1918"),
    ("Heinz Paul (1918-2003) directed Alba.", "2003"),
    ("Heinz Paul was born on 5 May 1918.", "1918"),
    ("Heinz Paul was born on 1918-05-05.", "1918"),
    ("Heinz Paul was born on 5 May 1918 in Ulm.", "May 5, 1918"),
    ("Heinz Paul was born on 5 May 1918 in Ulm.", "5 May"),
    ("He comes from the US.", "U.S."),
    ("He comes from the U.S., they say.", "the US"),
    ("He comes from the U.S.", "US"),
    ("She comes from the Netherlands.", "Netherlands"),
    ("She comes from Netherlands.", "the Netherlands"),
    ("The Who recorded it.", "The Who"),
    ("Vitamin A is stored there.", "vitamin A"),
    ("It was written by J. R. R. Tolkien.", "J.R.R. Tolkien"),
    ("O'Neill's play is about it.", "O’Neill’s"),
    ("He had two sons.", "2"),
    ("He had 2 sons.", "two"),
    ("It lasted 1,000 days.", "1000"),
    ("It grew by 5%.", "5 percent"),
    ("It is written in C++.", "C++"),
    ("It is in São Paulo.", "Sao Paulo"),
    ("Gabriele Oettingen-Spielberg is German.", "Oettingen"),
    ("No, Heinz Paul was born in 1918.", "1918"),
    ("Yes, it is Heinz Paul, who was born in 1918.", "Heinz Paul"),
    ("No. 5 Downing Street is in London.", "London"),
    ("No, he comes from the U.S., they say.", "US"),
    ("Yes, he had two sons.", "2"),
    ("Yes, both are German.", "yes"),
    ("Yes, both are German.", "Yes."),
    ("No, it was in 1918.", "no"),
    ("The answer is: no", "No"),
    ("No, he was born in 1918, as is known.", "No, he was born in 1918."),
    ("The director is unknown.", "unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("summary", "answer"), HELD)
def test_a_summary_holds_an_answer_however_both_write_it(summary: str, answer: str) -> None:
    assert holds(summary, answer)


DROPPED = [
    ("", "Alba"),
    ("Alba was directed by someone.", "Heinz Paul"),
    ("Alba was directed by Heinz.", "Heinz Paul"),
    ("Paul Heinz directed Alba.", "Heinz Paul"),
    ("Alban was born there.", "Alba"),
    ("The album is old.", "Alb"),
    ("Malba was born there.", "Alba"),
    ("She is Norwegian.", "Norway"),
    ("She is Norwegian.", "no"),
    ("Nobody knows her.", "no"),
    ("She was not there.", "no"),
    ("Both are German.", "yes"),
    ("Yesterday it was.", "Yes"),
    ("Yes, both are German.", "no"),
    ("He was born in 1918.", "No, he was born in 1919"),
    ("No, it was Alba.", "No, he was born in 1918"),
    ("Yes, it was Alba.", "Yes, in 1918"),
    ("He was born in 1918.", "191"),
    ("He was born in 1918.", "18"),
    ("He was born on 5 May 1918.", "1919"),
    ("He was born on 1918-12-05.", "12"),
    ("It lasted 1,200 days.", "1"),
    ("It lasted 1,200 days.", "200"),
    ("It is 2.5 miles long.", "2"),
    ("It is 2.5 miles long.", "5"),
    ("It is written in C++.", "C"),
    ("He comes from Austria.", "US"),
    ("Let us go.", "U.S.A."),
    ("He comes from Berlin.", "Berlin, Germany"),
    ("He directed it.", "unknown"),
]


@pytest.mark.parametrize(("summary", "answer"), DROPPED)
def test_a_summary_that_drops_an_answer_does_not_hold_it(summary: str, answer: str) -> None:
    assert not holds(summary, answer)


words = st.from_regex(r"[A-Z][a-z]{2,8}|[1-9][0-9]{0,3}", fullmatch=True)


@given(st.lists(words, min_size=1, max_size=4), st.sampled_from(["", "No, ", "Yes, ", "In 1066, "]))
def test_what_stands_in_a_summary_word_for_word_is_held(answer: list[str], beginning: str) -> None:
    assert holds(f"{beginning}it was told of {' '.join(answer)}, as they say.", " ".join(answer))


@given(st.text(), st.text(min_size=1))
def test_no_summary_is_an_accident(summary: str, answer: str) -> None:
    assert holds(summary, answer) in (True, False)
