"""Every dataset in its official form, by samples written after it: what is read, and what is refused."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from knowwhen.evaluation.datasets import KINDS, GoldQuestion, Skipped, kind_of, read_dataset
from knowwhen.evaluation.datasets.form import Paragraph
from knowwhen.evaluation.datasets.forms import FORMS, form_called, form_of
from knowwhen.evaluation.official_metrics import iirc_exact_match, squad2_f1
from knowwhen.models.errors import KnowwhenError, SettingsError

HOTPOTQA = {
    "_id": "5a8b",
    "question": "Were Ann and Bo of the same nationality?",
    "answer": "yes",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Ann", 0], ["Bo", 1]],
    "context": [["Ann", ["Ann is Thai.", " She sings."]], ["Cy", ["Cy is."]], ["Bo", ["Bo.", " Thai."]]],
}
TWO_WIKI = {
    **HOTPOTQA,
    "_id": "1643",
    "answer": "no",
    "type": "bridge_comparison",
    "evidences": [["Ann", "country", "Thailand"]],
    "context": [["Ann", ["Ann is Thai.", "She sings."]]],
}
MUSIQUE = {
    "id": "3hop1__1_2_3",
    "question": "Who?",
    "answer": "Bo",
    "answer_aliases": ["Bob", "Bo"],
    "answerable": False,
    "paragraphs": [
        {"idx": 0, "title": "A", "paragraph_text": "Text of A.", "is_supporting": False},
        {"idx": 1, "title": "B", "paragraph_text": "Text of B.", "is_supporting": True},
    ],
    "question_decomposition": [
        {"id": 1, "question": "A >> child", "answer": "Cy", "paragraph_support_idx": 1},
        {"id": 2, "question": "#1 >> child", "answer": "Di", "paragraph_support_idx": None},
        {"id": 3, "question": "#2 >> child", "answer": "Bo", "paragraph_support_idx": None},
    ],
}
STRATEGYQA = {
    "qid": "e004",
    "term": "Albany",
    "description": "City",
    "question": "Is it large?",
    "answer": True,
    "facts": ["It has 75,000 people."],
    "decomposition": ["How many live there?", "Is #1 large?"],
    "evidence": [[[["Albany-1", "Albany-2"]], ["operation"]], [[["Albany-1"], "no_evidence"], ["operation"]]],
}
BAMBOOGLE = {"Question": "Who?", "Answer": "James Madison"}
IIRC = {
    "pid": "p_0",
    "title": "Zeus",
    "text": "Zeus was a ship. ",
    "links": [{"target": "Ship", "indices": [11, 15]}],
    "questions": [
        {
            "qid": "q_0",
            "question": "Which two?",
            "answer": {"type": "span", "answer_spans": [{"text": "Ann "}, {"text": "Bo"}]},
            "context": [{"passage": "main", "text": "x"}, {"passage": "Ship", "text": "y"}],
            "question_links": ["Ship"],
        },
        {
            "qid": "q_1",
            "question": "How long?",
            "answer": {"type": "value", "answer_value": "53", "answer_unit": "years"},
        },
        {"qid": "q_2", "question": "Was it?", "answer": {"type": "binary", "answer_value": "Yes"}},
        {"qid": "q_3", "question": "Why?", "answer": {"type": "none"}},
    ],
}
NQ = {"question": "who sang it", "answer": ["Ann", "Bo"]}
NQ_ORACLE = {
    "question": "who sang it",
    "answers": ["Ann"],
    "ctxs": [{"title": "Song", "text": "Ann sang it.", "hasanswer": True, "isgold": True}],
    "nq_annotated_gold": {"title": "Song", "short_answers": ["Ann"]},
}
TRIVIAQA = {
    "Answer": {
        "Aliases": ["Sunset Blvd", "Sunset Boulevard"],
        "NormalizedAliases": ["sunset blvd", "sunset boulevard"],
        "NormalizedValue": "sunset boulevard",
        "Type": "WikipediaEntity",
        "Value": "Sunset Boulevard",
        "HumanAnswers": ["The Boulevard"],
    },
    "EntityPages": [{"DocSource": "TagMe", "Filename": "A.txt", "Title": "A"}],
    "Question": "Which musical?",
    "QuestionId": "tc_33",
    "QuestionSource": "http://example.org",
    "SearchResults": [],
}
SQUAD = {
    "title": "Super_Bowl",
    "paragraphs": [
        {
            "context": "Denver won. ",
            "qas": [
                {
                    "id": "56be",
                    "question": "Who won?",
                    "answers": [{"text": "Denver", "answer_start": 0}, {"text": "Denver", "answer_start": 0}],
                    "is_impossible": False,
                },
                {
                    "id": "56bf",
                    "question": "Who lost?",
                    "answers": [],
                    "plausible_answers": [{"text": "Denver", "answer_start": 0}],
                    "is_impossible": True,
                },
            ],
        }
    ],
}
POPQA = {
    "id": "4222362",
    "subj": "Ann",
    "prop": "occupation",
    "obj": "politician",
    "s_pop": "142",
    "o_pop": "",
    "question": "What is Ann's occupation?",
    "possible_answers": '["politician", "political leader"]',
}
WEBQUESTIONS = {
    "url": "http://www.freebase.com/view/en/ann",
    "targetValue": '(list (description "Ann \\"A.\\" Bo") (description Bo) (description "O\'Hara (actor)"))',
    "utterance": "who is ann?",
}
FRESHQA = {
    "id": "7",
    "split": "TEST",
    "question": "Who landed on Mars?",
    "effective_year": "before 2022",
    "next_review": "occasionally",
    "false_premise": "TRUE",
    "num_hops": "multi-hop",
    "fact_type": "slow-changing",
    "source": "x",
    "answer_0": "Nobody has.",
    "answer_1": " No one. ",
    "answer_2": "",
    "note": "",
}
FLASHRAG = {
    "id": "dev_0",
    "question": "Who?",
    "golden_answers": ["Bo"],
    "metadata": {
        "type": "bridge",
        "level": "easy",
        "supporting_facts": {"title": ["B", "C"], "sent_id": [0, 1]},
        "context": {"title": ["A", "B", "C"], "sentences": [["a"], ["b", "b"], ["c"]]},
    },
}
RECORDS: dict[str, dict[str, Any]] = {
    "hotpotqa": HOTPOTQA,
    "2wikimultihopqa": TWO_WIKI,
    "musique": MUSIQUE,
    "strategyqa": STRATEGYQA,
    "bamboogle": BAMBOOGLE,
    "iirc": IIRC,
    "nq": NQ,
    "nq-oracle": NQ_ORACLE,
    "triviaqa": TRIVIAQA,
    "squad": SQUAD,
    "popqa": POPQA,
    "webquestions": WEBQUESTIONS,
    "freshqa": FRESHQA,
    "flashrag": FLASHRAG,
}


def read(folder: Path, content: str, name: str = "file", **given: Any) -> list[GoldQuestion]:
    (folder / name).write_text(content, encoding="utf-8")
    return list(read_dataset(folder / name, **given))


def brief(questions: list[GoldQuestion]) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.id, each.golden_answers) for each in questions]


def hashed(*paragraphs: tuple[str, str]) -> list[str]:
    return [Paragraph(title, text).id for title, text in paragraphs]


def test_every_form_is_recognised_by_its_record_and_by_no_other() -> None:
    assert set(RECORDS) == set(KINDS)
    for kind, record in RECORDS.items():
        assert form_of(record) is form_called(kind), kind
    assert form_of({"title": "Paris", "text": "A city."}) is None
    assert form_of([HOTPOTQA]) is None


def test_no_form_stumbles_over_fields_of_any_shape() -> None:
    """Recognising must not fail, whatever stands in the fields that it looks at."""
    names = {name for record in RECORDS.values() for name in record}
    for value in (None, True, 7, 1.5, "", "x", [], [None], [[]], ["x"], {}, {"x": None}):
        record = dict.fromkeys(names, value)
        fitting = [form for form in FORMS if form.fits(record)]
        assert form_of(record) is (fitting[0] if fitting else None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [None, True, 7, "x", [], [None], [["x"]], {}, {"x": 1}])
def test_a_field_of_any_shape_is_read_or_refused_but_never_a_crash(
    tmp_path: Path, kind: str, value: object
) -> None:
    sound = RECORDS[kind]
    records = [{**sound, name: value} for name in sound]
    if kind == "iirc":
        inner = sound["questions"][0]
        records += [{**sound, "questions": [{**inner, name: value}]} for name in inner]
    if kind == "squad":
        paragraph = sound["paragraphs"][0]
        records += [{**sound, "paragraphs": [{**paragraph, name: value}]} for name in paragraph]
        for name in paragraph["qas"][0]:
            qas = [{**paragraph["qas"][0], name: value}]
            records.append({**sound, "paragraphs": [{**paragraph, "qas": qas}]})
    skipped = Skipped()
    lines = "\n".join(json.dumps(each) for each in [sound, *records])
    read(tmp_path, lines, kind=kind, skipped=skipped)
    assert all("\n" not in each for each in skipped.first)


def test_hotpotqa(tmp_path: Path) -> None:
    (question,) = read(tmp_path, json.dumps([HOTPOTQA]))
    assert brief([question]) == [("5a8b", ("yes",))]
    assert question.question == "Were Ann and Bo of the same nationality?"
    assert question.metadata == {
        "kind": "comparison",
        "hops": 2,
        "level": "hard",
        "supporting_facts": [["Ann", 0], ["Bo", 1]],
        "supporting": hashed(("Ann", "Ann is Thai. She sings."), ("Bo", "Bo. Thai.")),
    }


def test_hotpotqa_as_the_hub_has_it(tmp_path: Path) -> None:
    facts = {"title": ["Ann", "Bo"], "sent_id": [0, 1]}
    titles, sentences = zip(*HOTPOTQA["context"], strict=True)  # type: ignore[call-overload]
    row = {
        **HOTPOTQA,
        "id": "5a8b",
        "supporting_facts": facts,
        "context": {"title": titles, "sentences": sentences},
    }
    del row["_id"]
    assert read(tmp_path, json.dumps(row)) == read(tmp_path, json.dumps([HOTPOTQA]))


def test_2wikimultihopqa_and_its_context_as_json_in_a_text(tmp_path: Path) -> None:
    packed = {
        name: json.dumps(value) if name in ("context", "supporting_facts", "evidences") else value
        for name, value in TWO_WIKI.items()
    }
    for record in (TWO_WIKI, packed):
        (question,) = read(tmp_path, json.dumps([record]))
        assert (question.id, question.golden_answers) == ("1643", ("no",))
        assert question.metadata["kind"] == "bridge_comparison"
        assert question.metadata["hops"] == 4
        assert question.metadata["evidences"] == [["Ann", "country", "Thailand"]]
        assert question.metadata["supporting"] == hashed(("Ann", "Ann is Thai. She sings."))


def test_2wikimultihopqas_aliases_are_taken_from_their_file_beside_it(tmp_path: Path) -> None:
    of_entity = {**TWO_WIKI, "answer": "Thailand", "answer_id": "Q869"}
    records = json.dumps([of_entity, {**TWO_WIKI, "_id": "2", "answer_id": None}, {**TWO_WIKI, "_id": "3"}])
    assert brief(read(tmp_path, records))[0] == ("1643", ("Thailand",))  # there is no such file
    entities = [
        {"Q_id": "Q1", "aliases": ["everything"], "demonyms": []},
        {"Q_id": "Q869", "aliases": ["Siam", "Thailand"], "demonyms": ["Thai"]},
    ]
    aliases = tmp_path / "id_aliases.json"
    aliases.write_text("".join(json.dumps(each) + "\n" for each in entities))
    assert brief(read(tmp_path, records)) == [
        ("1643", ("Thailand", "Siam", "Thai")), ("2", ("no",)), ("3", ("no",))
    ]  # fmt: skip
    aliases.write_text(aliases.read_text() + '{"aliases": ["Siam"]}\n{"Q_id": "Q2", "aliases": "all"}\n')
    with pytest.raises(KnowwhenError, match=r"id_aliases.json:3: it has no Q_id; mend the record"):
        read(tmp_path, records)
    skipped = Skipped()
    assert brief(read(tmp_path, records, skipped=skipped))[0] == ("1643", ("Thailand", "Siam", "Thai"))
    assert skipped.count == 2
    assert skipped.first[1] == f"{aliases}:4: its aliases is not a list"


def test_musique_takes_aliases_and_says_what_its_paragraphs_do_not_answer(tmp_path: Path) -> None:
    (question,) = read(tmp_path, json.dumps(MUSIQUE))
    assert question.golden_answers == ("Bo", "Bob")
    assert question.metadata == {
        "kind": "3hop1",
        "hops": 3,
        "answerable": False,
        "decomposition": ["A >> child", "#1 >> child", "#2 >> child"],
        "part_answers": ["Cy", "Di", "Bo"],
        "supporting": hashed(("B", "Text of B.")),
    }


def test_strategyqa_answers_yes_and_no(tmp_path: Path) -> None:
    yes, no = read(tmp_path, json.dumps([STRATEGYQA, {**STRATEGYQA, "qid": "e005", "answer": False}]))
    assert brief([yes, no]) == [("e004", ("yes",)), ("e005", ("no",))]
    assert yes.metadata["hops"] == 2
    assert yes.metadata["decomposition"] == STRATEGYQA["decomposition"]
    assert yes.metadata["supporting"] == ["Albany-1", "Albany-2"]


def test_bamboogle_with_one_answer_or_several_and_with_an_id_or_none(tmp_path: Path) -> None:
    several = {"Question": "Who?", "id": "b_2", "answer": ["Ann", "A."]}
    questions = read(tmp_path, json.dumps([BAMBOOGLE, several]))
    assert brief(questions) == [("bamboogle-1", ("James Madison",)), ("b_2", ("Ann", "A."))]
    assert questions[0].metadata == {"hops": 2}


def test_iirc_has_four_types_of_answer(tmp_path: Path) -> None:
    questions = read(tmp_path, json.dumps([IIRC]))
    assert brief(questions) == [
        ("q_0", ("Ann; Bo",)),
        ("q_1", ("53", "53 years")),
        ("q_2", ("yes",)),
        ("q_3", ("none",)),
    ]
    assert iirc_exact_match("Bo and Ann", questions[0].golden_answers) == 1.0
    assert iirc_exact_match("Ann", questions[0].golden_answers) == 0.0
    assert [each.metadata["kind"] for each in questions] == ["span", "value", "binary", "none"]
    assert [each.metadata["answerable"] for each in questions] == [True, True, True, False]
    assert questions[0].metadata["hops"] == 2
    assert questions[0].metadata["links"] == ["Ship"]
    assert questions[0].metadata["supporting"] == hashed(("Zeus", "Zeus was a ship."))


def test_natural_questions_are_numbered_by_their_lines(tmp_path: Path) -> None:
    lines = json.dumps(NQ) + "\n\n" + json.dumps({**NQ, "answer": ["Cy"]})
    assert brief(read(tmp_path, lines)) == [("nq-1", ("Ann", "Bo")), ("nq-3", ("Cy",))]
    (oracle,) = read(tmp_path, json.dumps(NQ_ORACLE))
    assert brief([oracle]) == [("nq-oracle-1", ("Ann",))]
    assert oracle.metadata == {"hops": 1, "supporting": hashed(("Song", "Ann sang it."))}


def test_triviaqa_begins_with_the_authors_answer_and_takes_all_others(tmp_path: Path) -> None:
    document = {"Data": [TRIVIAQA], "Domain": "unfiltered-web", "Split": "dev", "Version": 1.0}
    golds = (
        "Sunset Boulevard", "Sunset Blvd", "The Boulevard", "sunset blvd", "sunset boulevard",
    )  # fmt: skip
    (question,) = read(tmp_path, json.dumps(document))
    assert question == GoldQuestion("tc_33", "Which musical?", golds, {"hops": 1})
    row = {
        "question": "Which musical?",
        "question_id": "tc_33",
        "answer": {"value": "Sunset Boulevard", "aliases": ["Sunset Blvd"], "normalized_aliases": []},
    }
    assert brief(read(tmp_path, json.dumps(row))) == [("tc_33", ("Sunset Boulevard", "Sunset Blvd"))]


@pytest.mark.parametrize("indent", [None, 1])
def test_squad_with_and_without_answers(tmp_path: Path, indent: int | None) -> None:
    for document in ({"version": "v2.0", "data": [SQUAD]}, {"data": [SQUAD], "version": "v2.0"}):
        won, lost = read(tmp_path, json.dumps(document, indent=indent))
        assert brief([won, lost]) == [("56be", ("Denver",)), ("56bf", ("",))]
        assert squad2_f1("", lost.golden_answers) == 1.0
        assert (won.metadata["answerable"], lost.metadata["answerable"]) == (True, False)
        assert won.metadata["supporting"] == hashed(("Super Bowl", "Denver won."))


def test_squad_as_the_hub_has_it(tmp_path: Path) -> None:
    row = {
        "id": "56be",
        "title": "Super_Bowl",
        "context": "Denver won. ",
        "question": "Who won?",
        "answers": {"text": ["Denver", "Denver"], "answer_start": [0, 0]},
    }
    document = {"version": "1.1", "data": [SQUAD]}
    assert read(tmp_path, json.dumps(row)) == read(tmp_path, json.dumps(document))[:1]
    assert read(tmp_path, json.dumps(row))[0].metadata == read(tmp_path, json.dumps(document))[0].metadata


def table(rows: list[dict[str, Any]], delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def test_popqa_has_its_answers_as_json_in_a_cell(tmp_path: Path) -> None:
    (question,) = read(tmp_path, table([POPQA], "\t"))
    assert brief([question]) == [("4222362", ("politician", "political leader"))]
    assert question.metadata == {"kind": "occupation", "hops": 1, "subject": "Ann", "s_pop": 142}


def test_webquestions_in_lisp_and_in_a_list(tmp_path: Path) -> None:
    row = {"url": WEBQUESTIONS["url"], "question": "who is ann?", "answers": ["Ann Bo"]}
    golds = ('Ann "A." Bo', "Bo", "O'Hara (actor)")
    assert brief(read(tmp_path, json.dumps([WEBQUESTIONS]))) == [("webquestions-1", golds)]
    assert brief(read(tmp_path, json.dumps(row))) == [("webquestions-1", ("Ann Bo",))]


def test_freshqa_is_read_behind_its_warnings(tmp_path: Path) -> None:
    warnings = '"WARNING: some answers, as of now, are outdated",,,\r\n\r\nnext review: soon,,\r\n'
    for before in ("", warnings):
        (question,) = read(tmp_path, before + table([FRESHQA], ","))
        assert brief([question]) == [("7", ("Nobody has.", "No one."))]
        assert question.metadata == {
            "kind": "slow-changing",
            "hops": 2,
            "false_premise": True,
            "effective_year": "before 2022",
            "next_review": "occasionally",
            "split": "TEST",
        }


def test_flashrag_keeps_its_metadata_without_the_paragraphs(tmp_path: Path) -> None:
    (question,) = read(tmp_path, json.dumps(FLASHRAG))
    assert question.metadata == {
        "kind": "bridge",
        "type": "bridge",
        "level": "easy",
        "hops": 2,
        "supporting_facts": {"title": ["B", "C"], "sent_id": [0, 1]},
        "supporting": hashed(("B", "b b"), ("C", "c")),
    }
    own = {"kind": "odd", "hops": 5, "supporting": ["p-1"], "context": "a text"}
    (question,) = read(tmp_path, json.dumps({**FLASHRAG, "metadata": own}))
    assert question.metadata == own


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({**HOTPOTQA, "answer": None}, "it has no answer"),
        ({**HOTPOTQA, "_id": ["x"]}, "its id is neither text nor a number"),
        ({**HOTPOTQA, "supporting_facts": [3]}, "its supporting_facts is not a list of pairs"),
        ({**HOTPOTQA, "context": [3]}, "its context is not a list of paragraphs with titles"),
        (
            {**HOTPOTQA, "context": {"title": ["A"], "text": []}},
            "its context has not as many titles as texts",
        ),
        ({**TWO_WIKI, "evidences": "[["}, "'[[' is no JSON"),
        (
            {**MUSIQUE, "question_decomposition": ["x"]},
            "its question_decomposition is not a list of objects",
        ),
        ({**BAMBOOGLE, "Answer": 3}, "its Answer is not a list of one text or more"),
        ({**BAMBOOGLE, "Question": "\ud800"}, "it has no question"),
        ({**NQ, "answer": []}, "its answer is not a list of one text or more"),
        ({**TRIVIAQA, "Answer": {"Type": "x"}}, "its Answer has neither a Value nor Aliases"),
        ({**POPQA, "possible_answers": "politician"}, "'politician' is no JSON"),
        ({**WEBQUESTIONS, "targetValue": "(list)"}, "its targetValue describes no answer"),
        ({**FRESHQA, "answer_0": "", "answer_1": ""}, "it has no answer_0"),
        ({**FLASHRAG, "id": "\ud800"}, "its id is neither text nor a number"),
        ({**FLASHRAG, "metadata": {"x": "\ud800"}}, "its metadata cannot be kept as JSON"),
        ({**FLASHRAG, "metadata": {"x": float("nan")}}, "its metadata cannot be kept as JSON"),
        ({**FLASHRAG, "metadata": {"kind": ["x"]}}, "the kind in its metadata is no text"),
        ({**FLASHRAG, "metadata": {"hops": "two"}}, "the hops in its metadata is no whole number"),
        ({**STRATEGYQA, "decomposition": "x"}, "its decomposition is not a list"),
    ],
)
def test_a_bad_record_is_refused_with_its_place_and_reason(
    tmp_path: Path, record: dict[str, Any], reason: str
) -> None:
    with pytest.raises(KnowwhenError) as refused:
        read(tmp_path, json.dumps(record))
    assert str(refused.value).startswith(f"{tmp_path}/file:1: {reason}")
    with pytest.raises(KnowwhenError) as refused:
        read(tmp_path, json.dumps([record]))
    assert str(refused.value).startswith(f"{tmp_path}/file, record 1: {reason}")
    assert "\n" not in str(refused.value)


def test_a_bad_question_among_others_of_its_record_is_named_and_left_out_alone(tmp_path: Path) -> None:
    inner = IIRC["questions"]
    wrong = {**inner[1], "answer": {"type": "guess"}}  # type: ignore[index, dict-item]
    document = json.dumps([IIRC, {**IIRC, "questions": [{**inner[0], "qid": "q_9"}, wrong]}])  # type: ignore[index, dict-item]
    with pytest.raises(KnowwhenError, match="file, record 2, question 2: its answer is of the type 'guess'"):
        read(tmp_path, document)
    skipped = Skipped()
    assert [each.id for each in read(tmp_path, document, skipped=skipped)] == [
        "q_0", "q_1", "q_2", "q_3", "q_9",
    ]  # fmt: skip
    assert skipped.count == 1


def test_a_kind_that_is_given_is_taken_without_a_look_at_the_record(tmp_path: Path) -> None:
    record = {**NQ, "golden_answers": ["Cy"], "id": "x"}
    assert brief(read(tmp_path, json.dumps(record))) == [("x", ("Cy",))]
    assert brief(read(tmp_path, json.dumps(record), kind="nq")) == [("nq-1", ("Ann", "Bo"))]
    with pytest.raises(SettingsError, match="no kind of dataset is called 'NQ'; give one of flashrag, "):
        read_dataset(tmp_path / "file", kind="NQ")


def test_the_kind_of_a_dataset_can_be_asked(tmp_path: Path) -> None:
    for kind, record in RECORDS.items():
        for content in (json.dumps(record), json.dumps(["x", {"y": 1}, record])):
            (tmp_path / "file").write_text(content)
            assert kind_of(tmp_path / "file") == kind
    (tmp_path / "file").write_text('{"prompt": "Who?"}')
    assert kind_of(tmp_path / "file") is None
    assert kind_of("almanac:test") == "flashrag"
    with pytest.raises(SettingsError, match="no dataset is called"):
        kind_of(tmp_path / "nowhere")


def test_strategyqas_paragraphs_are_no_questions(tmp_path: Path) -> None:
    paragraphs = {"Albany-1": {"title": "Albany", "section": "", "para_index": 1, "content": "A city."}}
    with pytest.raises(KnowwhenError, match="StrategyQA's paragraphs, which `knowwhen index build` takes"):
        read(tmp_path, json.dumps(paragraphs))
