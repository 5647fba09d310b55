"""Real files of the datasets, where they lie beside the project: how many questions, what some say."""

import json
from collections import Counter
from pathlib import Path

import pytest

from knowwhen.evaluation.datasets import GoldQuestion, read_dataset
from knowwhen.evaluation.datasets.paragraphs import CORPUS_READERS
from knowwhen.tools import Corpus

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the datasets are not here")


def read(name: str) -> list[GoldQuestion]:
    return list(read_dataset(DATA / name))


def counts(questions: list[GoldQuestion], name: str) -> dict[object, int]:
    return dict(Counter(each.metadata.get(name) for each in questions))


def ids(name: str) -> list[str]:
    return [entry.id for entry in Corpus([DATA / name], None, CORPUS_READERS)]


def test_hotpotqa() -> None:
    questions = read("hotpotqa.jsonl")
    assert counts(questions, "kind") == {"bridge": 396, "comparison": 104}
    assert questions[0].id == "5ac07327554299012d1db5f2"
    assert questions[0].golden_answers == ("an American football quarterback",)
    assert "context" not in questions[0].metadata
    assert questions[0].metadata["recorded"]["no_retrieve"] == "Kap"
    passages = ids("hotpotqa.jsonl")
    assert (len(passages), len(set(passages))) == (4992, 4963)
    assert {each for question in questions for each in question.metadata["supporting"]} <= set(passages)


def test_2wikimultihopqa() -> None:
    questions = read("2wikimultihopqa.jsonl")
    assert len(questions) == 500
    assert questions[0].golden_answers == ("27 June 1441",)
    assert set(counts(questions, "hops")) == {2, 4}
    passages = ids("2wikimultihopqa.jsonl")
    assert (len(passages), len(set(passages))) == (5000, 3443)


def test_musique() -> None:
    questions = read("musique.jsonl")
    assert counts(questions, "hops") == {2: 100}
    assert counts(questions, "answerable") == {True: 100}
    assert questions[0].id == "2hop__574419_270105"
    assert questions[0].metadata["part_answers"] == ["Mountrail County", "Stanley"]
    assert sum(len(each.golden_answers) > 1 for each in questions) == 34
    assert all(len(each.metadata["supporting"]) == 2 for each in questions)
    passages = ids("musique.jsonl")
    assert (len(passages), len(set(passages))) == (2000, 1603)


def test_strategyqa() -> None:
    questions = read("official/strategyqa_dev.json")
    assert Counter(each.golden_answers for each in questions) == {("yes",): 107, ("no",): 122}
    assert questions[0].id == "e0044a7b4d146d611e73"
    assert counts(questions, "hops") == {1: 3, 2: 62, 3: 123, 4: 27, 5: 14}
    file = DATA / "official" / "strategyqa_paragraphs.jsonl"
    paragraphs = map(json.loads, file.read_text("utf-8").splitlines())
    supported = {each for question in questions for each in question.metadata.get("supporting", ())}
    assert supported == {f"{paragraph['title']}-{paragraph['para_index']}" for paragraph in paragraphs}
    assert len(set(ids("official/strategyqa_paragraphs.jsonl"))) == 998


def test_natural_questions() -> None:
    questions = read("official/nq_open_dev_800.jsonl")
    assert len(questions) == 800
    assert questions[0].golden_answers == ("14 December 1972 UTC", "December 1972")
    oracle = read("official/nq_open_oracle_600.jsonl")
    assert len(oracle) == 600
    assert oracle[0].golden_answers == ("Wilhelm Conrad Röntgen",)
    assert len(set(ids("official/nq_open_oracle_600.jsonl"))) == 596


def test_bamboogle() -> None:
    questions = read("official/bamboogle.json")
    assert len(questions) == 125
    assert (questions[1].id, questions[1].golden_answers) == ("bamboogle_2", ("Titan IIIE",))


def test_freshqa() -> None:
    questions = read("official/freshqa.csv")
    assert counts(questions, "kind") == {"slow-changing": 223, "never-changing": 223, "fast-changing": 154}
    assert counts(questions, "hops") == {1: 463, 2: 137}
    assert counts(questions, "false_premise") == {True: 150, False: 450}
    assert questions[300].golden_answers == (
        "Barnet", "The London Borough of Barnet", "London", "North London",
    )  # fmt: skip
