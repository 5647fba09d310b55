"""Questions with their trees, shown before the one asked."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from knowwhen.models.errors import SettingsError
from knowwhen.nodes.demonstrations import read_demonstrations
from knowwhen.nodes.question_tree import read_tree
from knowwhen.nodes.references import references_in
from knowwhen.nodes.tree_demonstrations import DEFAULT, TreeDemonstration, as_text

SHOWN = TreeDemonstration(
    question="Wer schrieb „Emil“?",
    tree={"query1": {"question": "A?", "children": {"query2": {"question": "Wo ist #query1’s Tür?"}}}},
)


def test_the_packages_own_are_read_back_from_how_they_are_shown() -> None:
    texts = as_text(DEFAULT).split("\n\n")
    assert texts.pop() == "" and len(texts) == len(DEFAULT)
    for text, shown in zip(texts, DEFAULT, strict=True):
        head, _, tree = text.partition("\n")
        assert head == f"Question: {shown.question}"
        queries = read_tree(tree, "another question")
        places = {query["number"]: query["id"] for query in queries}
        assert [query["number"] for query in queries] == list(range(1, len(queries) + 1))
        for query in queries:  # each stands below what it refers to, and below nothing else
            above = [query["parent"]] if query["parent"] != "1" else []
            assert [places[number] for number in references_in(query["question"])] == above


def test_letters_are_shown_as_they_are() -> None:
    assert as_text([SHOWN]) == (
        'Question: Wer schrieb „Emil“?\n{"query1": {"question": "A?", '
        '"children": {"query2": {"question": "Wo ist #query1’s Tür?"}}}}\n\n'
    )
    assert as_text([]) == ""


@pytest.mark.parametrize(
    ("question", "tree", "reason"),
    [
        ("Q?", {}, "this is no tree: no JSON in '{}'"),
        (
            "Q?",
            {"query1": {"question": "A of #query2?"}},
            "this is no tree: query1 refers to #2, which is not",
        ),
        ("Q?", {"query1": {}}, "this is no tree: query1 has no question"),
        ("Q?\nQ?", SHOWN.tree, "should match pattern"),
        ("", SHOWN.tree, "at least 1 character"),
    ],
)
def test_what_is_no_tree_of_a_question_is_refused(
    question: str, tree: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        TreeDemonstration(question=question, tree=tree)
    assert reason in str(caught.value)


def test_a_file_of_them_is_read_and_its_faults_have_a_line(tmp_path: Path) -> None:
    file = tmp_path / "trees.jsonl"
    file.write_text(f"{SHOWN.model_dump_json()}\n\n", encoding="utf-8")
    assert read_demonstrations(file, TreeDemonstration) == (SHOWN,)
    file.write_text('\n{"question": "Q?", "tree": {"query1": {"question": ""}}}\n', encoding="utf-8")
    with pytest.raises(SettingsError, match=r"line 2: tree: .*this is no tree: query1 has no question"):
        read_demonstrations(file, TreeDemonstration)
