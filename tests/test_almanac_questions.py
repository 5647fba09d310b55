"""The almanac's questions: gold answers that follow, splits that leak nothing, numbers that suffice."""

import re
from collections import Counter
from functools import cache
from random import Random

import pytest
from almanac_reading import Truth, truth
from almanac_solver import Solver, is_chain
from hypothesis import given
from small_worlds import SMALL, few, seeds

from knowwhen.almanac import (
    KINDS,
    SPLITS,
    AlmanacQuestion,
    Split,
    World,
    default_world,
    facts_of,
    knowledge,
    make_world,
    quadrant,
    questions_of,
    split_of,
)
from knowwhen.almanac.phrasing import DEEDS
from knowwhen.almanac.questions import Asker
from knowwhen.almanac.relations import RELATIONS

HOPS = {
    "one_hop": 1, "bridge": 2, "comparison": 2, "bridge_comparison": 4, "intersection": 2, "yes_no": 2,
    "three_hop": 3, "four_hop": 4,
}  # fmt: skip
FEW_OF_EACH: dict[Split, int] = {"train": 8, "calibration": 8, "test": 8}


@cache
def asked(split: Split) -> list[AlmanacQuestion]:
    return list(questions_of(default_world(), split))


def check_answers(question: AlmanacQuestion, world: World, solver: Solver) -> None:
    assert solver.steps(question) == [(fact.subject.name, fact.object) for fact in question.facts]
    assert solver.answer(question) == question.answers[0]
    assert [solver.ask(part) for part in question.parts] == list(question.part_answers)
    assert solver.answer_from_parts(question) == question.answers[0]
    assert question.hops == HOPS[question.kind]
    if is_chain(question):
        assert question.parts == (question.question,)
    else:
        assert len(question.parts) == 2
    for alias in question.answers[1:]:
        bearers = [name for name in world.by_name if alias in name.split()]
        assert bearers == [question.answers[0]]


def check_knowledge(question: AlmanacQuestion, world: World, then: Truth, now: Truth) -> None:
    each = set()
    for fact in question.facts:
        key = (fact.subject.name, fact.relation)
        each.add("unknown" if key not in then else "known" if then[key] == now[key] else "known wrongly")
    assert knowledge(question, world) == (each.pop() if len(each) == 1 else "mixed")
    right = [then.get((f.subject.name, f.relation)) == f.object for f in question.facts]
    expected = "known" if all(right) else "mixed" if any(right) else "unknown"
    assert quadrant(question, world) == f"{'simple' if len(right) == 1 else 'compositional'} {expected}"


@pytest.mark.parametrize("split", SPLITS)
def test_every_answer_follows_from_the_steps_and_from_the_parts(split: Split) -> None:
    solver = Solver(default_world())
    for question in asked(split):
        check_answers(question, default_world(), solver)


@pytest.mark.parametrize("split", SPLITS)
def test_what_is_known_of_every_question_agrees_with_the_dates(split: Split) -> None:
    world = default_world()
    then, now = truth(world, world.cut_off), truth(world, world.today)
    for question in asked(split):
        check_knowledge(question, world, then, now)


@few
@given(seeds)
def test_in_every_world_answers_follow_and_knowledge_agrees_with_the_dates(seed: int) -> None:
    world = make_world(seed, SMALL)
    solver, then = Solver(world), truth(world, world.cut_off)
    for split in SPLITS:
        for question in questions_of(world, split, FEW_OF_EACH):
            check_answers(question, world, solver)
            check_knowledge(question, world, then, solver.true)


@few
@given(seeds)
def test_the_same_seed_asks_the_same_questions(seed: int) -> None:
    once, again = (list(questions_of(make_world(seed, SMALL), "test", FEW_OF_EACH)) for _ in range(2))
    assert once == again


def test_no_fact_is_in_two_splits_and_every_question_keeps_to_its_own() -> None:
    world = default_world()
    keys = {split: {fact.key for fact in facts_of(world, split)} for split in SPLITS}
    assert sum(map(len, keys.values())) == len(world.now) == len(set.union(*keys.values()))
    for split in SPLITS:
        used = {fact.key for question in asked(split) for fact in question.facts}
        assert used <= keys[split]
        assert {split_of(key, world.seed) for key in used} == {split}
    shares = {split: len(keys[split]) / len(world.now) for split in SPLITS}
    assert shares == pytest.approx({"train": 0.5, "calibration": 0.2, "test": 0.3}, abs=0.03)


def test_the_cut_offs_facts_are_split_as_todays() -> None:
    world = default_world()
    for split in SPLITS:
        before = {fact.key for fact in facts_of(world, split, at_cut_off=True)}
        assert before <= {fact.key for fact in facts_of(world, split)}


def wording(question: AlmanacQuestion, solver: Solver, names: re.Pattern[str]) -> str:
    """A question with its names, and what stands for names, left out."""
    if is_chain(question):
        return solver.reading(question.question)[0]
    text = names.sub("…", question.question)
    for relation in RELATIONS:
        text = text.replace(relation.phrase.format(s="…"), "…")
    for deed in DEEDS.values():
        text = text.replace(deed.format(s="…"), "…")
    return f"{question.kind}: {text}"


def wordings(questions: list[AlmanacQuestion], world: World) -> set[str]:
    solver = Solver(world)
    longest_first = sorted(world.by_name, key=len, reverse=True)
    names = re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})\b")
    return {wording(question, solver, names) for question in questions}


@cache
def trained_and_tested() -> tuple[set[str], set[str]]:
    trained = wordings([*asked("train"), *asked("calibration")], default_world())
    return trained, wordings(asked("test"), default_world())


def test_what_is_tested_is_in_no_wording_that_is_trained_on() -> None:
    trained, tested = trained_and_tested()
    assert not trained & tested
    assert len(trained) >= 200
    assert len(tested) >= 60


@few
@given(seeds)
def test_other_worlds_keep_to_the_same_wordings(seed: int) -> None:
    world = make_world(seed, SMALL)
    trained, tested = trained_and_tested()
    assert not wordings(list(questions_of(world, "train", FEW_OF_EACH)), world) & tested
    assert not wordings(list(questions_of(world, "test", FEW_OF_EACH)), world) & trained


KNOWN, UNKNOWN, MIXED = "compositional known", "compositional unknown", "compositional mixed"
NUMBERS: dict[Split, dict[str, dict[str, int]]] = {
    "train": {
        "one_hop": {"simple known": 380, "simple unknown": 220},
        "bridge": {KNOWN: 121, UNKNOWN: 57, MIXED: 22},
        "comparison": {KNOWN: 74, UNKNOWN: 25, MIXED: 101},
        "bridge_comparison": {KNOWN: 62, UNKNOWN: 16, MIXED: 122},
        "intersection": {KNOWN: 109, UNKNOWN: 77, MIXED: 14},
        "yes_no": {KNOWN: 110, UNKNOWN: 46, MIXED: 44},
        "three_hop": {KNOWN: 90, UNKNOWN: 19, MIXED: 91},
        "four_hop": {KNOWN: 92, UNKNOWN: 26, MIXED: 43},
    },
    "calibration": {
        "one_hop": {"simple known": 183, "simple unknown": 117},
        "bridge": {KNOWN: 51, UNKNOWN: 36, MIXED: 13},
        "comparison": {KNOWN: 42, UNKNOWN: 11, MIXED: 47},
        "bridge_comparison": {KNOWN: 18, UNKNOWN: 4, MIXED: 46},
        "intersection": {KNOWN: 22, UNKNOWN: 21, MIXED: 4},
        "yes_no": {KNOWN: 52, UNKNOWN: 25, MIXED: 23},
        "three_hop": {KNOWN: 42, UNKNOWN: 17, MIXED: 41},
        "four_hop": {KNOWN: 30, MIXED: 11},
    },
    "test": {
        "one_hop": {"simple known": 283, "simple unknown": 167},
        "bridge": {KNOWN: 90, UNKNOWN: 41, MIXED: 19},
        "comparison": {KNOWN: 63, UNKNOWN: 19, MIXED: 68},
        "bridge_comparison": {KNOWN: 94, UNKNOWN: 3, MIXED: 53},
        "intersection": {KNOWN: 79, UNKNOWN: 31, MIXED: 14},
        "yes_no": {KNOWN: 86, UNKNOWN: 30, MIXED: 34},
        "three_hop": {KNOWN: 70, UNKNOWN: 16, MIXED: 64},
        "four_hop": {KNOWN: 19, UNKNOWN: 2, MIXED: 39},
    },
}


@pytest.mark.parametrize("split", SPLITS)
def test_the_default_world_has_so_many_questions_of_each_kind_and_quadrant(split: Split) -> None:
    counts: dict[str, dict[str, int]] = {}
    for question in asked(split):
        of_kind = counts.setdefault(question.kind, Counter())
        of_kind[quadrant(question, default_world())] += 1
    assert counts == NUMBERS[split]


@pytest.mark.parametrize("split", SPLITS)
def test_no_quadrant_is_rare_in_the_default_world(split: Split) -> None:
    totals = Counter(quadrant(question, default_world()) for question in asked(split))
    assert len(totals) == 5
    assert min(totals.values()) >= 40, totals


@pytest.mark.parametrize("split", SPLITS)
def test_no_question_of_the_default_world_is_asked_twice_or_needs_a_fact_twice(split: Split) -> None:
    assert len({question.question for question in asked(split)}) == len(asked(split))
    for question in asked(split):
        assert len({fact.key for fact in question.facts}) == question.hops


# What holds of the questions that are asked of any world.


def check_variety(questions: list[AlmanacQuestion]) -> None:
    """Half of the answers are yes, and a pair is asked about in one order only."""
    answers = Counter(question.answers[0] for question in questions if question.kind == "yes_no")
    assert answers["yes"] == answers["no"] > 0
    asked_about = Counter((question.kind, frozenset(question.facts)) for question in questions)
    assert max(asked_about.values()) == 1


def check_chain(question: AlmanacQuestion) -> None:
    """It never comes back to where it was."""
    passed = [fact.subject.name for fact in question.facts] + [question.answers[0]]
    assert len(set(passed)) == question.hops + 1, question.question


def check_named_first(question: AlmanacQuestion) -> None:
    """Of "the director of A and B" one would read that both are theirs."""
    named = question.facts[2].subject.name
    assert re.search(rf"{named},? (and|or) the \w+ of ", question.question), question.question


def check_shapes(questions: list[AlmanacQuestion]) -> None:
    for question in questions:
        if is_chain(question):
            check_chain(question)
        elif question.kind == "three_hop":
            check_named_first(question)


@pytest.mark.parametrize("split", SPLITS)
def test_yes_is_as_frequent_as_no_and_no_chain_comes_back_in_the_default_world(split: Split) -> None:
    check_variety(asked(split))
    check_shapes(asked(split))


@few
@given(seeds)
def test_yes_is_as_frequent_as_no_and_no_chain_comes_back_in_every_world(seed: int) -> None:
    world = make_world(seed, SMALL)
    asker = Asker(world, Random(seed), held_out=None)
    questions = [question for kind in KINDS for question in asker.many(kind, 60)]
    assert {question.kind for question in questions} == set(KINDS)
    check_variety(questions)
    check_shapes(questions)


@pytest.mark.parametrize("split", SPLITS)
def test_of_some_chains_and_bridge_comparisons_nothing_is_known(split: Split) -> None:
    unknown = [question for question in asked(split) if quadrant(question, default_world()) == UNKNOWN]
    assert {"bridge", "three_hop", "bridge_comparison"} <= {question.kind for question in unknown}
    assert sum(is_chain(question) for question in unknown) >= 30


def test_in_other_worlds_too_nothing_is_known_of_some_chains_and_bridge_comparisons() -> None:
    unknown: Counter[str] = Counter()
    asked_of: Counter[str] = Counter()
    for seed in range(30):
        world = make_world(seed, SMALL)
        asker = Asker(world, Random(seed), held_out=None)
        for kind in ("bridge", "three_hop", "bridge_comparison"):
            for question in asker.many(kind, 40):
                asked_of[kind] += 1
                unknown[kind] += quadrant(question, world) == UNKNOWN
    assert unknown["bridge"] / asked_of["bridge"] > 0.15
    assert unknown["three_hop"] / asked_of["three_hop"] > 0.04
    assert unknown["bridge_comparison"] / asked_of["bridge_comparison"] > 0.03
