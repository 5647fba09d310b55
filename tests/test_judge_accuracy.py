"""Judge accuracy through a door: what is asked, what is counted, and the pocket model as a judge."""

from scripted import ScriptedChat

from knowwhen.evaluation.judge_accuracy import JudgeAccuracy
from knowwhen.models.cost import NO_COST
from knowwhen.models.door import Door
from knowwhen.models.resolve import resolve_model


def test_a_judge_gives_one_or_nothing_and_its_cost() -> None:
    model = ScriptedChat(lambda prompt: "Yes." if "Given answer: Kun, Bela" in prompt else "no")
    judge = JudgeAccuracy(Door(model))
    right = judge("Who led it?", "Kun,\nBela", ["Bela Kun", "B. Kun"])
    wrong = judge("Who led it?", "Nobody", ["Bela Kun"])
    assert (right.value, right.read, wrong.value, wrong.read) == (1, True, 0, True)
    assert (right.cost["model_calls"], wrong.cost["model_calls"]) == (1, 1)
    assert "Who led it?" in model.prompts[0] and "Bela Kun or B. Kun" in model.prompts[0]


def test_a_reply_that_is_neither_yes_nor_no_counts_as_no() -> None:
    found = JudgeAccuracy(Door(ScriptedChat(["perhaps"])))("Who?", "Kun", ["Bela Kun"])
    assert (found.value, found.read) == (0, False)


def test_nobody_is_asked_about_an_empty_answer() -> None:
    judge = JudgeAccuracy(Door(ScriptedChat([])))  # it would fail if asked
    for prediction, golds in ((" \n", ["Kun"]), ("Kun", [])):
        found = judge("Who?", prediction, golds)
        assert (found.value, found.read, found.cost) == (0, True, NO_COST)


def test_another_prompt_is_asked() -> None:
    model = ScriptedChat(["yes"])
    assert JudgeAccuracy(Door(model), "{question}|{right}|{given}")("Q", "g", ["r"]).value == 1
    assert model.prompts == ["Q|r|g"]


def test_a_real_model_answers() -> None:
    verdict = JudgeAccuracy(Door(resolve_model("pocket")))("Who founded Nokel Group?", "Velo", ["Velo"])
    assert verdict.value in (0, 1)
    assert verdict.cost["output_tokens"] > 0
