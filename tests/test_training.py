"""Training the pocket model: what is taught, and that a stopped training goes on where it was."""

import random
import re
from pathlib import Path

import pytest
import torch

from knowwhen.almanac import default_world
from knowwhen.almanac.phrasing import phrasings
from knowwhen.almanac.relations import RELATIONS
from knowwhen.almanac.splits import split_of
from knowwhen.almanac.world import TODAY, name_words
from knowwhen.models.door import Door
from knowwhen.models.transformers_chat import ChatTransformers
from knowwhen.nodes import combine, decompose, read_passages
from knowwhen.training import pocket
from knowwhen.training.batches import COURSE, batches, encode
from knowwhen.training.compared import Compared
from knowwhen.training.confidence import OwnAnswer, stated_confidences
from knowwhen.training.examples import Examples
from knowwhen.training.lessons import NO_LOSS
from knowwhen.training.pocket import Plan, Trainer, train
from knowwhen.training.subjects import Subjects
from knowwhen.training.tokenizer import train_tokenizer
from knowwhen.uncertainty.verbalised import verbalised


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer()


def test_every_name_word_and_year_is_one_token(tokenizer) -> None:
    words = [*name_words(), *map(str, range(1880, TODAY + 1))]
    assert [word for word in words if len(tokenizer.encode(f" {word}")) != 1] == []


def test_any_text_survives_the_tokenizer(tokenizer) -> None:
    for text in ("Ünïcode 東京 🙂", "tabs\tand\n\nlines", 'a {brace} "quoted"', "#1: Who?\n#2: When?"):
        assert tokenizer.decode(tokenizer.encode(text)).strip() == text


def test_the_loss_is_over_answers_and_over_what_a_prompt_repeats(tokenizer) -> None:
    ids, labels = encode(
        (("Who directed Velo Taray? Who directed Velo Taray?", "Brisk Olan"),), tokenizer, copying=True
    )
    learnt = [i for i, label in enumerate(labels) if label != NO_LOSS]
    answer = tokenizer.encode("Brisk Olan")
    assert labels[-len(answer) - 1 :] == [*answer, tokenizer.eos_token_id]
    assert all(labels[i] == ids[i] for i in learnt)
    assert tokenizer.decode([ids[i] for i in learnt]).startswith(" Velo Taray?")


def test_training_uses_no_held_out_wording() -> None:
    examples = Examples(random.Random(5))
    held_out = {
        w.split("{s}")[0] + "§" + w.split("{s}")[1] for r in RELATIONS for w in phrasings(r.name, True)
    }
    for _ in range(300):
        ((prompt, _),) = examples.direct()
        question = prompt.split("Question: ")[1].split("\n")[0]
        name = next(n for n in default_world().by_name if n in question)
        assert question.replace(name, "§") not in held_out


def test_nothing_after_the_cut_off_is_told() -> None:
    world = default_world()
    later = {e.name for e in world.entities.values() if e.since > world.cut_off}
    examples = Examples(random.Random(6))
    for task in ("document", "direct", "direct_chain", "background", "thought"):
        for _ in range(200):
            text = " ".join(f"{said} {answered}" for said, answered in examples.tasks[task]())
            assert not any(name in text for name in later)


def test_chains_are_taught_over_the_train_split_alone() -> None:
    world = default_world()
    examples = Examples(random.Random(7))
    keys = {fact.key for fact in examples.own_chains.facts}
    assert keys and {split_of(key, world.seed) for key in keys} == {"train"}


def test_what_is_read_of_remembered_names_is_not_what_is_remembered() -> None:
    world, examples = default_world(), Examples(random.Random(9))
    worlds = []
    for _ in range(40):
        examples.turn_page()
        worlds.append(examples.elsewhere.world)
    retold = [w for w in worlds if w.by_name.keys() <= world.by_name.keys()]
    assert 4 <= len(retold) <= 24
    for other in retold:
        assert not any(e.since > world.cut_off for e in other.entities.values())
        same = [
            fact.object == world.then[key].object for key, fact in other.then.items() if key in world.then
        ]
        assert sum(same) < 0.2 * len(same)  # places have few others to change with


def test_the_order_of_years_is_taught_right() -> None:
    examples = Examples(random.Random(10))
    for said, answered in (turn for _ in range(50) for turn in examples.order()):
        assert said is not None
        years = [int(year) for year in re.findall(r"\d{4}", said)]
        assert answered == str(min(years) if "earlier" in said else max(years))


def test_decompositions_are_taught_in_the_form_the_node_reads() -> None:
    examples = Examples(random.Random(8))
    for _ in range(200):
        ((_, answered),) = examples.decompose()
        parts = decompose.read_parts(answered)
        assert "\n".join(f"#{i}: {part}" for i, part in enumerate(parts, 1)) == answered


def test_every_word_of_a_look_up_is_under_its_title_and_the_end_under_what_was_asked_about(tokenizer) -> None:
    prompt = read_passages.PROMPT.format(
        question="When was Velo Taray born?",
        passages="[1] Brisk Olan: Brisk Olan was born in 1950.\n[2] Velo Taray: Born in 1960 was Velo Taray.",
    )
    ids, _ = encode(((prompt, "1960"),), tokenizer)
    subjects = Subjects(tokenizer).of(ids)
    olan, taray = tokenizer.encode(" Olan")[-1], tokenizer.encode(" Taray")[-1]
    under = {
        word: [s for i, s in zip(ids, subjects, strict=True) if i == tokenizer.encode(word)[-1]]
        for word in (" 1950", " 1960", "<|assistant|>", " material")
    }
    assert under == {" 1950": [olan], " 1960": [taray, -100], "<|assistant|>": [taray], " material": [-100]}


def test_a_talk_without_passages_has_no_subjects(tokenizer) -> None:
    for talk in (((None, "Velo Taray: Velo Taray was born in 1960."),), (("Who wrote [1]: X?", "Y"),)):
        ids, _ = encode(talk, tokenizer)
        assert set(Subjects(tokenizer).of(ids)) <= {-100}


def test_the_year_that_decides_is_marked_from_the_prompts_end_to_the_name(tokenizer) -> None:
    people = [e.name for e in default_world().entities.values() if e.kind == "person"]
    older, younger = (
        people[0],
        next(name for name in people if not set(name.split()) & set(people[0].split())),
    )
    asked = [f"When was {name} born?" for name in (younger, older)]
    question = f"Who was born first, {younger} or {older}?"
    pairs = combine.as_pairs(asked, ["1960", "1949"])
    ids, _ = encode(((combine.PROMPT.format(question=question, pairs=pairs), older),), tokenizer)
    marked = [i for i, year in enumerate(Compared(tokenizer).of(ids)) if year != NO_LOSS]
    assert tokenizer.decode([ids[i] for i in marked]) == "Answer:<|assistant|>"
    (year,) = {Compared(tokenizer).of(ids)[i] for i in marked}
    assert tokenizer.decode([year]).strip() == "1949"


def test_every_taught_comparison_is_marked_with_the_year_of_its_answer(tokenizer) -> None:
    examples, compared = Examples(random.Random(12)), Compared(tokenizer)
    marked = 0
    for _ in range(200):
        ((prompt, name),) = examples.compare()
        ids, _ = encode(((prompt, name),), tokenizer)
        years = {tokenizer.decode([year]).strip() for year in compared.of(ids) if year != NO_LOSS}
        (told,) = [line for line in prompt.split("\n") if line.startswith("#") and f"{name} " in line]
        assert years <= {told[-4:]}
        marked += bool(years)
    assert marked > 150  # names that share a word leave open which one is meant


def test_no_year_decides_where_nothing_is_compared(tokenizer) -> None:
    examples, compared = Examples(random.Random(13)), Compared(tokenizer)
    for draw in (examples.direct, examples.read, examples.decompose, examples.document, examples.order):
        for _ in range(30):
            ids, _ = encode(draw(), tokenizer)
            assert set(compared.of(ids)) == {NO_LOSS}


def test_who_goes_with_a_year_is_taught_right() -> None:
    examples = Examples(random.Random(14))
    for _ in range(50):
        ((prompt, name),) = examples.whose()
        year = prompt.split("Which goes with ")[1][:4]
        assert any(line.endswith(f"? {year}") and name in line for line in prompt.split("\n"))


@pytest.mark.slow
def test_a_stopped_training_goes_on_as_if_never_stopped(tmp_path: Path) -> None:
    plan = Plan(steps=4, tokens=512, warm_up=2)
    whole = Trainer(tmp_path / "whole", plan, compiled=False)
    train(whole, COURSE)
    part = Trainer(tmp_path / "part", plan, compiled=False)
    for batch in list(batches(plan.seed, 0, plan.steps, plan.tokens, part.tokenizer))[:2]:
        part.learn(batch)
    part.save()
    resumed = Trainer(tmp_path / "part", plan, compiled=False)
    assert resumed.step == 2
    train(resumed, COURSE)
    assert resumed.step == 4
    for name, weights in whole.model.state_dict().items():
        torch.testing.assert_close(resumed.model.state_dict()[name], weights, msg=name)


def test_an_exported_model_answers(tmp_path: Path) -> None:
    trainer = Trainer(tmp_path / "run", Plan(steps=1, tokens=512), compiled=False)
    trainer.export(tmp_path / "model")
    size = sum(file.stat().st_size for file in (tmp_path / "model").iterdir())
    assert size <= 10_000_000
    answer = ChatTransformers(path=str(tmp_path / "model"), max_tokens=4).invoke("Who directed Velo Taray?")
    assert answer.usage_metadata["output_tokens"] >= 1


@pytest.mark.slow
def test_the_whole_training_goes_through_its_parts_and_stands_when_called_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = Plan(steps=1, tokens=512, warm_up=1)
    monkeypatch.setattr(pocket, "CONFIDENCE_PLAN", short)
    monkeypatch.setattr(pocket, "SURENESS_PLAN", short)
    monkeypatch.setattr(pocket, "QUIZ_PLAN", short)
    monkeypatch.setattr(pocket, "TREE_PLAN", short)
    judged: list[Path] = []

    def few(door: Door, seed: int) -> list[OwnAnswer]:
        judged.append(Path(door.model.path))
        return [OwnAnswer("Who?", "Velo Taray", 0.9, True), OwnAnswer("Who?", "Brisk Olan", 0.2, False)]

    monkeypatch.setattr(pocket, "own_answers", few)
    made = pocket.train_pocket(tmp_path, short, compiled=False)
    assert made == tmp_path / "model" and (tmp_path / "loss.png").stat().st_size > 1000
    parts = ("before-confidence", "confidence/model", "sureness/model", "quizzes/model")
    assert judged == [tmp_path / part for part in parts]
    weights = [tmp_path / part / "model.safetensors" for part in ("before-confidence", "model")]
    assert weights[0].read_bytes() != weights[1].read_bytes()
    first = weights[1].read_bytes()
    pocket.train_pocket(tmp_path, short, compiled=False)
    assert weights[1].read_bytes() == first


def test_confidence_is_the_share_of_right_answers_among_those_as_probable() -> None:
    answers = [OwnAnswer("q", "a", 0.9, i % 10 > 0) for i in range(100)]  # right 9 times in 10
    answers += [OwnAnswer("q", "a", 0.2, i % 10 == 0) for i in range(100)]  # right once in 10
    stated = [verbalised(turn[1]) for (turn,) in stated_confidences(answers)]
    assert set(stated[:100]) == {0.9} and set(stated[100:]) == {0.1}


def test_a_wrong_answer_is_not_learnt_but_how_sure_to_be_of_it_is(tokenizer) -> None:
    right, wrong = stated_confidences(
        [OwnAnswer("Who?", "Velo Taray", 0.9, True), OwnAnswer("Who?", "Brisk Olan", 0.2, False)]
    )
    learnt = [
        tokenizer.decode([label for label in encode(example, tokenizer)[1] if label != NO_LOSS])
        for example in (right, wrong)
    ]
    assert "Velo Taray" in learnt[0] and "Confidence: 100" in learnt[0]
    assert "Brisk" not in learnt[1] and "Olan" not in learnt[1] and "Confidence: 0" in learnt[1]
