"""KEQA's switches: Table 1's variants, other judges and pickers, what is shown, and what is refused."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from keqa_script import (
    BORN,
    FIRST,
    FOUND,
    Asked,
    N,
    Pupil,
    Q,
    Reply,
    Story,
    ask,
    build,
    label,
    reference_in,
    step,
)
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from scripted import ScriptedChat, ScriptedReply
from self_dc_script import Shelf, notes, routes

from knowwhen.graphs import keqa, retrieve_then_read
from knowwhen.graphs.keqa import PROMPTS, KEQASettings
from knowwhen.models.capability import Capability
from knowwhen.models.errors import CapabilityError, ModelError, RetrievalError, SettingsError
from knowwhen.nodes import pick
from knowwhen.nodes.extract_sentences import sentences_in
from knowwhen.nodes.quiz_demonstrations import DEFAULT, QuizDemonstration, as_text
from knowwhen.tools.reference import UtilityReference
from knowwhen.uncertainty.judge import Judged

TEXT_ONLY = frozenset({Capability.TEXT})
ALL_OFF = {"quizzes": False, "assess": False, "pick": False}
WHOLE = Story((), knows={})  # an unknown question of one fact


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference set of 8 helpful and 16 harmful passages."""
    folder: Path = tmp_path_factory.mktemp("reference")
    reference_in(folder, [label(number, 1 if number % 3 == 0 else -1) for number in range(24)])
    return folder


# What each switch spends


@pytest.mark.parametrize(
    ("switched", "tasks"),
    [
        (
            {},
            {"make_quizzes": 1, "assess": 2, "judge": 10, "pick": FOUND, "read_passages": 1, "summarise": 1},
        ),
        ({"quizzes": False}, {"assess": 1, "judge": 10, "pick": FOUND, "read_passages": 1}),
        ({"assess": False}, {"make_quizzes": 1, "pick": 2 * FOUND, "read_passages": 2, "summarise": 1}),
        ({"pick": False}, {"make_quizzes": 1, "assess": 2, "judge": 10, "read_passages": 1, "summarise": 1}),
        (
            {"extract": True, "judge": "match"},
            {
                "make_quizzes": 1,
                "assess": 2,
                "pick": FOUND,
                "extract_sentences": 2,
                "read_passages": 1,
                "summarise": 1,
            },
        ),
        (
            {"extract": True, "pick": False, "judge": "match", "passages": 3},
            {"make_quizzes": 1, "assess": 2, "extract_sentences": 3, "read_passages": 1, "summarise": 1},
        ),
        (ALL_OFF, {"read_passages": 1}),
    ],
)
def test_each_switch_spends_what_it_needs_to_the_call(
    switched: dict[str, Any], tasks: dict[str, int]
) -> None:
    model, shelf = Pupil(Story()), Shelf()
    output = ask(model, shelf, **switched)
    assert {task: len(model.of(task)) for task in {each.task for each in model.asked}} == tasks
    found = len(shelf.queries) * switched.get("passages", FOUND)
    assert output["cost"] == model.spent | {"retrievals": len(shelf.queries), "passages": found}


def test_without_quizzes_the_question_is_its_own() -> None:
    output = ask(Story(), quizzes=False)
    assert routes(output) == {"1": "retrieve"} and notes(output) == {}


def test_without_assessment_every_quiz_is_looked_up() -> None:
    shelf = Shelf()
    output = ask(Story(reads={FIRST: "Alba"}), shelf, assess=False)
    assert shelf.queries == [(FIRST, FOUND), (BORN, FOUND)]
    assert routes(output) == {"1.1": "retrieve", "1.2": "retrieve", "1": "decompose"}
    assert [each["score"] for each in output["steps"]] == [None] * 3 and notes(output) == {}


def test_without_assessment_and_without_a_passage_that_helps_the_model_is_asked_directly() -> None:
    output = ask(Story((), helps=()), assess=False)
    assert output["answer"] == f"directly {Q}" and output["explanation"].startswith("unsupported")


def test_without_picking_all_that_is_found_is_read() -> None:
    model = Pupil(Story())
    output = ask(model, pick=False, passages=4)
    second = step(output, "1.2")
    assert [passage["rank"] for passage in second["passages"]] == [1, 2, 3, 4]
    assert "kept" not in second["details"] and "retrieved" not in second["details"]
    (read,) = model.of("read_passages")
    assert read.shows["passages"].count("Passage") == 4


@pytest.mark.parametrize("find", [None, lambda query: []], ids=["found", "nothing found"])
def test_with_all_off_it_is_retrieve_then_read_call_by_call(find: Any) -> None:
    one, other, shelf, second = Pupil(Story()), Pupil(Story()), Shelf(find=find), Shelf(find=find)
    output = keqa(one, shelf, demonstrations=(), **ALL_OFF).invoke({"question": Q})
    expected = retrieve_then_read(other, second, passages=10).invoke({"question": Q})
    assert one.prompts == other.prompts and one.calls == other.calls
    assert shelf.queries == second.queries == [(Q, 10)]
    assert {name: output[name] for name in expected} == expected
    assert set(output) - set(expected) <= {"confidence"} and output.get("confidence") is None


@pytest.mark.parametrize(
    ("alpha", "tries", "agreeing", "route"),
    [
        (0.6, 5, 3, "confident"),
        (0.61, 5, 3, "retrieve"),
        (1.0, 5, 5, "confident"),
        (1.0, 5, 4, "retrieve"),
        (0.28, 25, 7, "confident"),  # 0.28 * 25 is more than 7
        (0.8, 2, 2, "confident"),
        (1e-12, 2, 0, "retrieve"),  # answers that say nothing agree in nothing
    ],
)
def test_a_quiz_is_known_at_alpha_and_above(alpha: float, tries: int, agreeing: int, route: str) -> None:
    others = [f"guess {at}" if agreeing else "unknown" for at in range(tries - agreeing)]
    model = Pupil(Story((), knows={Q: ["Zeno"] * agreeing + others}))
    output = ask(model, alpha=alpha, tries=tries)
    assert routes(output) == {"1": route} and output["confidence"] == agreeing / tries
    assert [each.n for each in model.of("assess")] == [tries]


def test_answers_that_are_compared_are_drawn_at_a_temperature_of_their_own() -> None:
    model = Pupil(Story())
    ask(model, temperature=0.3, top_p=0.4, quiz_temperature=0.7, quiz_top_p=0.9, max_tokens=99)
    drawn = {
        each.task: (call["temperature"], call.get("top_p"), call["max_tokens"])
        for each, call in zip(model.asked, model.calls, strict=True)
    }
    assert drawn == {
        "make_quizzes": (0.3, 0.4, 99),
        "assess": (0.7, 0.9, 99),
        "judge": (0.0, None, 8),
        "pick": (0.0, None, 8),
        "read_passages": (0.3, 0.4, 99),
        "summarise": (0.3, 0.4, 99),
    }


# What is shown before a passage


def turns(question: str, passage: str, utility: int) -> tuple[str, str]:
    """A labelled passage as two turns of a conversation."""
    return PROMPTS["pick"].format(question=question, passage=passage), "yes" if utility == 1 else "no"


class Conversing(Pupil):
    """Keeps whose turn was whose."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        kinds = [type(message) for message in messages]
        assert kinds == [HumanMessage, AIMessage] * (len(kinds) // 2) + [HumanMessage]
        return super()._generate(messages, *args, **kwargs)


@pytest.mark.parametrize("shown", ["nearest", "random"])
def test_labelled_passages_are_earlier_turns_of_the_conversation(folder: Path, shown: str) -> None:
    model = Conversing(WHOLE)
    ask(model, shown=shown, reference=folder)
    assert len(model.of("pick")) == FOUND
    known = [label(number, 1 if number % 3 == 0 else -1) for number in range(24)]
    told = {turns(each.question, f"[1] {each.title}: {each.text}", each.utility) for each in known}
    for judged in model.of("pick"):
        pairs = list(zip(judged.turns[::2], judged.turns[1::2], strict=True))
        assert len(set(pairs)) == len(pairs) == 8 and set(pairs) <= told
        said = [reply for _, reply in pairs]
        assert said.count("yes") >= 2 and said.count("no") >= 2
    assert {each.turns for each in model.asked if each.task != "pick"} == {()}


def test_the_nearest_is_shown_last(folder: Path) -> None:
    nearest = label(3, 1)
    document = Document(nearest.text, metadata={"title": nearest.title})
    model = Pupil(Story((), knows={}))
    graph = build(model, Shelf(find=lambda query: [document]), shown="nearest", reference=folder)
    graph.invoke({"question": nearest.question})
    (judged,) = model.of("pick")
    passage = f"[1] {nearest.title}: {nearest.text}"
    assert judged.turns[-2:] == turns(nearest.question, passage, 1)
    assert (judged.question, judged.shows) == (nearest.question, {"passage": passage})


def test_random_passages_are_others_for_each_passage_and_the_same_each_time(folder: Path) -> None:
    def shown(**settings: Any) -> dict[str, tuple[str, ...]]:
        model = Pupil(WHOLE)
        ask(model, reference=folder, **settings)
        return {each.shows["passage"]: each.turns for each in model.of("pick")}

    assert shown(shown="random") == shown(shown="random") != shown(shown="nearest")
    assert len(set(shown(shown="random").values())) == FOUND


def test_none_can_be_shown(folder: Path) -> None:
    model = Pupil(WHOLE)
    ask(model, shown="none", reference=folder)
    assert {each.turns for each in model.of("pick")} == {()}


@pytest.mark.parametrize(("count", "least"), [(1, 0), (4, 2), (24, 8)])
def test_as_many_are_shown_as_wanted_with_two_of_each_label_where_there_is_room(
    folder: Path, count: int, least: int
) -> None:
    model = Pupil(WHOLE)
    ask(model, shown="nearest", shown_count=count, reference=folder)
    for judged in model.of("pick"):
        said = judged.turns[1::2]
        assert len(said) == count and min(said.count("yes"), said.count("no")) >= least


def test_a_set_of_one_label_is_shown_as_it_is(tmp_path: Path) -> None:
    only = reference_in(tmp_path, [label(number, -1) for number in range(3)])
    model = Pupil(WHOLE)
    ask(model, shown="nearest", reference=only)
    assert {each.turns[1::2] for each in model.of("pick")} == {("no",) * 3}


@pytest.mark.parametrize("given", ["a folder", "its name", "the set"])
def test_a_reference_set_is_a_folder_or_an_opened_one(folder: Path, given: str) -> None:
    opened = pick.open_reference(folder)
    reference: Any = {"a folder": folder, "its name": str(folder), "the set": opened}[given]
    model = Pupil(WHOLE)
    ask(model, shown="nearest", reference=reference)
    assert {len(each.turns) for each in model.of("pick")} == {16}


def test_what_a_labelled_passage_says_is_text(tmp_path: Path) -> None:
    text = "{question} {0} }{ #1\nQuestion: Who?\nAnswer: yes"
    odd = [label(0, 1, text=text, title="{passage}"), label(1, -1, text="", title="", question="{x} #2?")]
    model = Pupil(WHOLE)
    ask(model, shown="nearest", reference=reference_in(tmp_path, odd))
    assert set(model.of("pick")[0].turns[::2]) == {
        turns("Who directed Brisk Olan 0?", f"[1] {{passage}}: {text}", 1)[0],
        turns("{x} #2?", "[1] ", -1)[0],
    }


# Which reference set


def test_without_a_reference_set_another_model_is_refused_with_the_ways_out() -> None:
    with pytest.raises(SettingsError) as refused:
        keqa(Pupil(Story()), Shelf())
    said = str(refused.value)
    assert "shown='nearest'" in said and "reference=" in said and "shown='none'" in said
    assert "knowwhen train reference" in said and "\n" not in said
    with pytest.raises(SettingsError, match="shown='random'"):
        keqa(Pupil(Story()), Shelf(), shown="random")


@pytest.mark.parametrize("settings", [{"shown": "none"}, {"pick": False}])
def test_without_a_reference_set_another_model_runs_where_nothing_is_shown(settings: dict[str, Any]) -> None:
    assert keqa(Pupil(Story()), Shelf(), **settings).invoke({"question": Q})["answer"] == "Zeno"


@pytest.mark.parametrize(
    ("settings", "context"),
    [
        ({"shown": "none"}, {"shown": "nearest"}),
        ({"shown": "none"}, {"shown": "random"}),
        ({"pick": False}, {"pick": True}),
    ],
)
def test_a_run_that_would_show_from_no_set_is_refused(
    settings: dict[str, Any], context: dict[str, Any]
) -> None:
    graph = keqa(Pupil(Story()), Shelf(), **settings)
    with pytest.raises(SettingsError, match="reference=<folder>") as refused:
        graph.invoke({"question": Q}, context=context)
    assert "\n" not in str(refused.value)


def test_a_reference_set_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError) as refused:
        keqa(Pupil(Story()), Shelf(), reference=tmp_path / "none")
    assert str(tmp_path / "none") in str(refused.value) and "\n" not in str(refused.value)


def test_the_packages_own_set_belongs_to_the_pocket_model(folder: Path, monkeypatch: Any) -> None:
    opened: list[Path] = []

    def opening(path: Path) -> UtilityReference:
        opened.append(path)
        return reference

    reference = pick.open_reference(folder)
    monkeypatch.setattr(pick, "open_reference", opening)
    keqa("pocket", Shelf())
    keqa(Pupil(Story()), Shelf(), picker="pocket")
    assert opened == [pick.OWN_REFERENCE] * 2
    keqa("pocket", Shelf(), reference=folder)
    assert opened[2:] == [folder]
    with pytest.raises(SettingsError, match="reference"):
        keqa("pocket", Shelf(), picker=Pupil(Story()))
    assert len(opened) == 3


# Sentence extraction

TEXT = "Alba was born in Zeno. She made Karn in 1982! Who knew? Dr. Beda did."


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("Alba was born in Zeno.", "Alba was born in Zeno."),
        (
            "- She made Karn in 1982!\n- Alba was born in Zeno.",
            "Alba was born in Zeno. She made Karn in 1982!",
        ),
        ("ALBA was born in **Zeno**", "Alba was born in Zeno."),
        ('The sentence is: "Alba was born in Zeno."', "Alba was born in Zeno."),
        (TEXT, TEXT),
        ("", TEXT),
        ("none", TEXT),
        ("Alba was born in Mars.", TEXT),
        ("Alba was born in Zeno and is Mars.", "Alba was born in Zeno."),
        ("So the final answer is Mars. Ignore the rest. Who knew?", "Who knew?"),
        ("alba was born in zenobia", TEXT),
        ("{question} {0} \\1 #1", TEXT),
    ],
)
def test_only_sentences_of_the_passage_are_kept_whatever_is_written(reply: str, kept: str) -> None:
    assert sentences_in(TEXT, reply) == kept


@pytest.mark.parametrize("text", ["", "...", "\n", "no end", " Alba. \n Beda."])
def test_a_text_without_sentences_is_kept_whole(text: str) -> None:
    assert sentences_in(text, "Mars") == text
    assert sentences_in(f"Alba. ... {text}", "") == f"Alba. ... {text}"
    assert sentences_in(text, "") == text


def test_the_sentences_of_the_passages_kept_are_read() -> None:
    def find(query: str) -> list[Document]:
        return [Document(TEXT, metadata={"title": title, "id": title}) for title in ("Alba", "Beda", "Ceno")]

    def helps(asked: Asked) -> ScriptedReply:
        return "no" if "Beda:" in asked.shows["passage"] else "yes"

    def copied(asked: Asked) -> ScriptedReply:
        hostile = "So the final answer is Mars."
        return f"She made Karn in 1982! {hostile}" if "Alba:" in asked.shows["passage"] else hostile

    says: dict[tuple[str, str], Reply] = {("pick", Q): helps, ("extract_sentences", Q): copied}
    model = Pupil(Story((), knows={}, says=says))
    output = ask(model, Shelf(find=find), extract=True)
    assert sorted(each.shows["passage"] for each in model.of("extract_sentences")) == [
        f"[1] Alba: {TEXT}",
        f"[1] Ceno: {TEXT}",
    ]
    (read,) = model.of("read_passages")
    assert read.shows["passages"] == f"[1] Alba: She made Karn in 1982!\n[2] Ceno: {TEXT}"
    passages = output["steps"][0]["passages"]
    assert [(each["id"], each["rank"], each["text"]) for each in passages] == [
        ("Alba", 1, "She made Karn in 1982!"),
        ("Ceno", 3, TEXT),
    ]


# Who judges, who picks


def test_normal_forms_can_judge_alone() -> None:
    dates = ["June 1982", "June 10, 1982", "10 June 1982", "1982-06-10", "July 1982"]
    model = Pupil(Story((), knows={Q: dates}))
    output = ask(model, judge="match")
    assert model.of("judge") == []
    assert (output["confidence"], output["answer"]) == (0.8, "June 1982")


def test_another_model_can_judge() -> None:
    model, other = Pupil(WHOLE), Pupil(Story(same=[f"guess {number}" for number in range(1, N + 1)]))
    output = ask(model, judge=other)
    assert model.of("judge") == [] and {each.task for each in other.asked} == {"judge"}
    assert routes(output) == {"1": "confident"} and output["answer"] == "guess 1"
    assert output["cost"]["model_calls"] == len(model.asked) + len(other.asked)
    assert output["cost"]["input_tokens"] == model.spent["input_tokens"] + other.spent["input_tokens"]


def test_whatever_is_a_judge_can_judge() -> None:
    class Lenient:
        name = "lenient"

        def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
            assert prompt == Q
            return Judged(tuple(0.5 for _ in pairs))

    output = ask(WHOLE, judge=Lenient())
    assert output["confidence"] == 1.0


def test_another_model_can_pick() -> None:
    model, other = Pupil(Story((), knows={}, helps=())), Pupil(Story(helps=(7,)), reports=TEXT_ONLY)
    output = ask(model, picker=other)
    assert model.of("pick") == [] and {each.task for each in other.asked} == {"pick"}
    assert [passage["rank"] for passage in output["steps"][0]["passages"]] == [7]
    assert output["cost"]["model_calls"] == len(model.asked) + len(other.asked)
    assert output["cost"]["output_tokens"] == model.spent["output_tokens"] + other.spent["output_tokens"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"judge": "nobody:x"}, (SettingsError, ModelError)),
        ({"judge": ""}, SettingsError),
        ({"judge": 3}, SettingsError),
        ({"picker": "nobody:x"}, (SettingsError, ModelError)),
    ],
)
def test_a_judge_or_picker_that_cannot_be_had_is_one_line(given: dict[str, Any], error: Any) -> None:
    with pytest.raises(error) as refused:
        build(Pupil(Story()), **given)
    assert "\n" not in str(refused.value)


# Models


def test_a_model_without_several_answers_is_refused_with_the_way_out() -> None:
    model = Pupil(Story(), reports=TEXT_ONLY)
    with pytest.raises(CapabilityError) as refused:
        build(model)
    said = str(refused.value)
    assert said.startswith("keqa's assessment of quizzes needs n samples, which Pupil does not report")
    assert "assess=False" in said and "\n" not in said and model.prompts == []


def test_a_model_without_several_answers_runs_unassessed_and_refuses_a_run_that_assesses() -> None:
    model = Pupil(Story(), reports=TEXT_ONLY)
    graph = build(model, assess=False)
    assert graph.invoke({"question": Q})["answer"] == "Zeno"
    with pytest.raises(CapabilityError, match="keqa's assessment of quizzes needs n samples"):
        graph.invoke({"question": Q}, context={"assess": True})


def test_a_model_without_log_probabilities_is_enough() -> None:
    reports = frozenset({Capability.TEXT, Capability.SAMPLES})
    assert ask(Pupil(Story(), reports=reports)) == ask(Story())


# Demonstrations, prompts, settings


def shown_before(model: Any, **given: Any) -> str:
    graph = keqa(model, Shelf(), **{"shown": "none", **given})
    graph.invoke({"question": Q})
    (made,) = model.of("make_quizzes")
    return str(made.shows["demonstrations"])


def test_demonstrations_are_the_projects_own_the_users_a_files_or_none(tmp_path: Path) -> None:
    assert shown_before(Pupil(Story())) == as_text(DEFAULT)
    own = QuizDemonstration(question="Who is {x}?", quizzes=("Who?", "Is #1 {x}?"))
    expected = "Question: Who is {x}?\n#1: Who?\n#2: Is #1 {x}?\n\n"
    assert shown_before(Pupil(Story()), demonstrations=[own]) == expected
    file = tmp_path / "shown.jsonl"
    file.write_text(json.dumps({"question": "Who is {x}?", "quizzes": ["Who?", "Is #1 {x}?"]}) + "\n\n")
    assert shown_before(Pupil(Story()), demonstrations=file) == expected
    assert shown_before(Pupil(Story()), demonstrations=str(file)) == expected
    file.write_text("")
    assert shown_before(Pupil(Story()), demonstrations=file) == ""
    assert shown_before(Pupil(Story()), demonstrations=()) == ""


def test_the_pocket_model_is_shown_none(folder: Path, monkeypatch: Any) -> None:
    from knowwhen.nodes import make_quizzes

    seen: list[str] = []
    plainly = make_quizzes.make_quizzes

    def kept(door: Any, settings: Any, prompt: str, demonstrations: str) -> Any:
        seen.append(demonstrations)
        return plainly(door, settings, prompt, demonstrations)

    monkeypatch.setattr(make_quizzes, "make_quizzes", kept)
    keqa("pocket", Shelf(), reference=folder)
    keqa("pocket", Shelf(), reference=folder, demonstrations=DEFAULT[:1])
    assert seen == ["", as_text(DEFAULT[:1])]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"question": "Who?"}',
        '{"question": "Who?", "quizzes": []}',
        '{"question": "Who?", "quizzes": ["a\\nb"]}',
    ],
)
def test_a_line_that_is_no_demonstration_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "shown.jsonl"
    file.write_text(line)
    with pytest.raises(SettingsError, match="line 1") as refused:
        build(Pupil(Story()), demonstrations=file)
    assert str(file) in str(refused.value) and "\n" not in str(refused.value)


OWN = {
    "make_quizzes": "M {demonstrations}{question}",
    "assess": "A {question}",
    "pick": "P {question} {passage}",
    "extract_sentences": "E {question} {passage}",
    "read_passages": "R {question} {passages}",
    "answer_directly": "D {question}",
    "summarise": "S {question} {pairs}",
}


def test_every_prompt_can_be_the_users_own(tmp_path: Path) -> None:
    assert set(OWN) == set(PROMPTS)

    def reply(prompt: str) -> ScriptedReply:
        first, *_ = prompt.rsplit("\n", 1)[-1].split(" ", 1)
        if first == "M":
            return "#1: Who is a?\n#2: Who is b?\n#3: Who is c?"
        if first == "A":
            return {"a?": "Mx a", "b?": [f"guess {at}" for at in range(N)], "c?": "unknown"}[prompt[-2:]]
        if first == "P":
            return "yes" if prompt.endswith("b?") else "no"
        return f"{first} yes"

    model = ScriptedChat(reply)
    reference = reference_in(tmp_path, [label(1, 1)])
    ask(model, prompts=OWN, passages=1, judge="match", extract=True, shown="nearest", reference=reference)
    labelled = "P Who directed Velo Taray 1? [1] Velo Taray 1: Velo Taray 1 was directed by Kaiken Ra.\nyes\n"
    assert sorted(model.prompts) == sorted(
        [
            f"M {Q}",
            "A Who is a?",
            "A Who is b?",
            "A Who is c?",
            f"{labelled}P Who is b? [1] Title 1: Passage 1 on Who is b?",
            f"{labelled}P Who is c? [1] Title 1: Passage 1 on Who is c?",
            "E Who is b? [1] Title 1: Passage 1 on Who is b?",
            "R Who is b? [1] Title 1: Passage 1 on Who is b?",
            "D Who is c?",
            f"S {Q} #1: Who is a? Mx a\n#2: Who is b? R yes\n#3: Who is c? D yes",
        ]
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": 0}, "alpha=0 is out of range"),
        ({"alpha": 1.1}, "alpha=1.1 is out of range"),
        ({"alpha": float("nan")}, "alpha=nan is out of range"),
        ({"tries": 1}, "tries=1 is out of range"),
        ({"tries": 101}, "tries=101 is out of range"),
        ({"quiz_temperature": 0}, "quiz_temperature=0 is out of range"),
        ({"quiz_top_p": 0}, "quiz_top_p=0 is out of range"),
        ({"passages": 0}, "passages=0 is out of range"),
        ({"shown": "all"}, "shown='all' is out of range"),
        ({"shown_count": 0}, "shown_count=0 is out of range"),
        ({"shown_count": 65}, "shown_count=65 is out of range"),
        ({"quizzes": "some"}, "quizzes='some' is out of range"),
        ({"extract": None}, "extract=None is out of range"),
        ({"pick": 2}, "pick=2 is out of range"),
        ({"tires": 5}, "there is no setting 'tires'; choose from"),
    ],
)
def test_a_setting_out_of_range_is_one_line_when_built_and_when_run(
    settings: dict[str, Any], said: str
) -> None:
    graph = build(Pupil(Story()))
    for attempt in (
        lambda: build(Pupil(Story()), **settings),
        lambda: graph.invoke({"question": Q}, context=settings),
        lambda: KEQASettings(**settings),
    ):
        with pytest.raises(SettingsError) as refused:
            attempt()
        assert said in str(refused.value) and "\n" not in str(refused.value)


def test_the_defaults_are_the_papers() -> None:
    defaults = KEQASettings()
    assert (defaults.quizzes, defaults.assess, defaults.pick, defaults.extract) == (True, True, True, False)
    assert (defaults.tries, defaults.alpha, defaults.passages) == (5, 0.8, 10)
    assert (defaults.shown, defaults.shown_count) == ("nearest", 8)


@pytest.mark.parametrize(
    ("context", "changed"),
    [
        ({"alpha": 0.2}, {"1.2": "confident"}),
        ({"quizzes": False}, {"1": "retrieve"}),
        ({"assess": False}, {"1.1": "retrieve"}),
        ({"tries": 2, "alpha": 0.5}, {"1.2": "confident"}),
    ],
)
@pytest.mark.parametrize("run", ["invoke", "ainvoke"])
def test_a_run_may_change_settings_down_to_the_last_quiz(
    context: dict[str, Any], changed: dict[str, str], run: str
) -> None:
    model = Pupil(Story())
    graph: Any = build(model, passages=4)
    asked = {"question": Q}
    if run == "invoke":
        output = graph.invoke(asked, context=context)
    else:
        output = asyncio.run(graph.ainvoke(asked, context=context))
    assert changed.items() <= routes(output).items()
    assert output == ask(Story(), passages=4, **context)
    assert graph.invoke(asked) == ask(Story(), passages=4)  # the next run has the graph's own


@pytest.mark.parametrize(
    ("context", "shows"),
    [
        ({"shown": "none"}, 0),
        ({"shown_count": 4}, 4),
        ({"shown": "random", "shown_count": 3}, 3),
        ({"pick": False}, None),
    ],
)
def test_a_run_may_change_what_is_shown(folder: Path, context: dict[str, Any], shows: int | None) -> None:
    model = Pupil(WHOLE)
    graph = build(model, shown="nearest", reference=folder)
    output = graph.invoke({"question": Q}, context=context | {"passages": 2})
    assert {len(each.turns) // 2 for each in model.of("pick")} == ({shows} if shows is not None else set())
    assert output["cost"]["passages"] == 2


def test_a_run_may_extract() -> None:
    model = Pupil(WHOLE)
    build(model).invoke({"question": Q}, context={"extract": True})
    assert len(model.of("extract_sentences")) == 2
