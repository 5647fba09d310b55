"""The almanac's passages: what they state is true, and what is out of date or wrong says so."""

import re
from collections import Counter

from almanac_reading import sentences, stated, truth
from hypothesis import given
from small_worlds import SMALL, few, seeds

from knowwhen.almanac import World, corpus, default_world, make_world

YEAR = re.compile(r" \((\d{4}) edition\)$")


def check_main(world: World) -> None:
    """Every main passage says what it is listed to, all of it true today, and all of its own facts."""
    now = truth(world, world.today)
    for passage in corpus(world):
        if passage.kind != "main":
            continue
        said = stated(passage.text, passage.title, world)
        assert all(now[subject, relation] == object_ for subject, relation, object_ in said)
        listed = {(world.entities[entity].name, relation) for entity, relation in passage.states}
        assert {(subject, relation) for subject, relation, _ in said} == listed
        assert {key for key in now if key[0] == passage.title} <= listed
        assert passage.title == world.entities[passage.id].name


def check_stale_and_misleading(world: World) -> None:
    now = truth(world, world.today)
    for passage in corpus(world):
        assert (passage.kind == "main") == bool(passage.states)
        if passage.kind == "stale":
            year = YEAR.search(passage.title)
            assert year and passage.text.startswith(f"As of {year[1]}: ")
            ((subject, relation, object_),) = stated(
                passage.text.removeprefix(f"As of {year[1]}: "), "", world
            )
            assert truth(world, int(year[1]))[subject, relation] == object_ != now[subject, relation]
        elif passage.kind == "misleading":
            about = passage.title.removeprefix("Rumours about ")
            warning = f"It is wrongly said of {about}: "
            assert passage.text.startswith(warning)
            ((subject, relation, object_),) = stated(passage.text.removeprefix(warning), "", world)
            assert subject == about
            assert now[subject, relation] != object_


def test_the_default_worlds_own_passages_say_its_facts_and_nothing_else() -> None:
    check_main(default_world())


def test_stale_passages_state_what_was_true_and_misleading_ones_say_that_they_are_wrong() -> None:
    check_stale_and_misleading(default_world())


@few
@given(seeds)
def test_every_worlds_passages_say_what_they_are_listed_to(seed: int) -> None:
    world = make_world(seed, SMALL)
    check_main(world)
    check_stale_and_misleading(world)


def test_the_default_world_has_its_numbers_of_passages_with_ids_of_their_own() -> None:
    passages = list(corpus(default_world()))
    assert Counter(passage.kind for passage in passages) == {"main": 780, "stale": 43, "misleading": 31}
    assert len({passage.id for passage in passages}) == len(passages)


@few
@given(seeds)
def test_an_award_that_nobody_has_won_has_no_passage(seed: int) -> None:
    world = make_world(seed, {**SMALL, "award": (60, 60)})
    won = {fact.object for fact in world.now.values() if fact.relation == "award"}
    awards = {entity.id for entity in world.of_kind("award")}
    told = {passage.id for passage in corpus(world)}
    assert {world.entities[entity].name for entity in awards & told} == won
    assert awards - told
    assert all(passage.text for passage in corpus(world))


def test_a_fact_is_put_in_several_ways() -> None:
    world = default_world()
    ways: dict[str, set[str]] = {}
    for passage in corpus(world):
        for sentence in sentences(passage.text) if passage.kind == "main" else ():
            text = re.sub(r"\b\d{4}\b", "YEAR", sentence)
            for name in sorted(world.by_name, key=len, reverse=True):
                if name in text:
                    text = text.replace(name, "…")
            ways.setdefault(text, set()).add(passage.id)
    assert sum(len(passages) >= 10 for passages in ways.values()) >= 60
