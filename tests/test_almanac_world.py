"""The almanac's worlds: their names, their dates, and what of them is known."""

import subprocess
import sys
from collections import Counter

import pytest
from almanac_reading import truth
from hypothesis import given
from small_worlds import SMALL, few, seeds

from knowwhen.almanac import CUT_OFF, TODAY, Fact, World, default_world, make_world
from knowwhen.almanac.relations import BY_NAME, RELATIONS
from knowwhen.almanac.world import BEGINNING, COUNTS, SUFFIXES, name_words, retold


def check_names(world: World) -> None:
    names = [entity.name for entity in world.entities.values()]
    assert len(set(names)) == len(names)
    pool = set(name_words())
    for entity in world.entities.values():
        words = entity.name.split()
        if entity.kind in SUFFIXES:
            assert words.pop() in SUFFIXES[entity.kind]
        assert len(words) == {"person": 2, "film": 2, "book": 2}.get(entity.kind, 1)
        assert set(words) <= pool, entity


def check_facts(world: World) -> None:
    for fact in world.history:
        relation = BY_NAME[fact.relation]
        assert relation.subject == fact.subject.kind
        assert fact.subject.since <= fact.since <= TODAY
        if relation.object == "year":
            assert 1850 <= int(fact.object) <= fact.since
        else:
            assert world.by_name[fact.object].kind == relation.object
    now = Counter(fact.key for fact in world.history)
    assert all(count == 1 or BY_NAME[relation].changes for (_, relation), count in now.items())
    asked_of_all = [relation for relation in RELATIONS if relation.name != "award"]
    for entity in world.entities.values():
        told = {relation.name for relation in asked_of_all if relation.subject == entity.kind}
        assert told <= {name for subject, name in now if subject == entity.id}


def check_dates(world: World) -> None:
    """Nobody acts before the world has heard of them, and of each kind there is one from the beginning."""
    for fact in world.history:
        assert fact.object.isdigit() or world.by_name[fact.object].since <= fact.since, fact
    for kind in COUNTS:
        assert min(entity.since for entity in world.of_kind(kind)) == BEGINNING, kind


def check_capitals(world: World) -> None:
    """Every country is governed from the city of its number, which lies in it."""
    for year in range(BEGINNING, TODAY + 1):
        true = truth(world, year)
        capitals = {subject: city for (subject, relation), city in true.items() if relation == "capital"}
        for country, capital in capitals.items():
            assert true[capital, "country"] == country, year
            assert world.by_name[capital].id == world.by_name[country].id.replace("country", "city")
    assert set(capitals) == {country.name for country in world.of_kind("country")}


def check_knowledge(world: World) -> None:
    then, now = truth(world, world.cut_off), truth(world, world.today)
    assert set(then) <= set(now) == {(fact.subject.name, fact.relation) for fact in world.history}
    for fact in world.now.values():
        key = (fact.subject.name, fact.relation)
        assert fact.object == now[key]
        expected = "unknown" if key not in then else "known" if then[key] == now[key] else "known wrongly"
        assert world.knowledge(fact.key) == expected
        if fact.subject.since > world.cut_off:
            assert expected == "unknown"


def test_the_default_world_has_its_names_facts_and_knowledge_in_order() -> None:
    world = default_world()
    assert (world.seed, world.cut_off, world.today) == (7, CUT_OFF, TODAY) == (7, 2020, 2030)
    check_names(world)
    check_facts(world)
    check_dates(world)
    check_capitals(world)
    check_knowledge(world)


@few
@given(seeds)
def test_every_seed_gives_a_world_in_order(seed: int) -> None:
    world = make_world(seed, SMALL)
    check_names(world)
    check_facts(world)
    check_dates(world)
    check_capitals(world)
    check_knowledge(world)


def test_the_default_world_has_the_numbers_the_pocket_model_was_made_for() -> None:
    world = default_world()
    assert Counter(entity.kind for entity in world.entities.values()) == {
        kind: total for kind, (total, _) in COUNTS.items()
    }
    old = Counter(entity.kind for entity in world.entities.values() if entity.since <= CUT_OFF)
    assert old == {kind: count for kind, (_, count) in COUNTS.items()}
    known = Counter(world.knowledge(key) for key in world.now)
    assert known == {"known": 1280, "unknown": 706, "known wrongly": 38}


def refer_to_new(world: World) -> list[bool]:
    """Of each new fact about a person or a city, whether that one is new as well."""
    new = [world.by_name[fact.object] for fact in world.history if names_person_or_city(fact)]
    return [entity.since > CUT_OFF for entity in new]


def names_person_or_city(fact: Fact) -> bool:
    return fact.since > CUT_OFF and BY_NAME[fact.relation].object in ("person", "city")


def test_what_is_new_mostly_refers_to_what_is_new() -> None:
    new = refer_to_new(default_world())
    assert len(new) > 400
    assert sum(new) / len(new) > 0.7


def test_in_other_worlds_too_what_is_new_mostly_refers_to_what_is_new() -> None:
    new = [told for seed in range(30) for told in refer_to_new(make_world(seed, SMALL))]
    assert sum(new) / len(new) > 0.6


def test_a_world_with_fewer_cities_than_countries_is_refused_in_one_line() -> None:
    message = "4 countries need a capital each, and there are 3 cities; ask for more cities"
    with pytest.raises(ValueError, match=f"^{message}$"):
        make_world(7, {**SMALL, "city": (3, 3)})
    world = make_world(7, {**SMALL, "city": (4, 4)})
    check_dates(world)
    check_capitals(world)


@few
@given(seeds)
def test_a_retold_world_has_the_old_names_and_other_facts_in_order(seed: int) -> None:
    world = make_world(seed, SMALL)
    other = retold(world, 1)
    assert set(other.by_name) == {name for name, entity in world.by_name.items() if entity.since <= CUT_OFF}
    check_dates(other)
    check_capitals(other)
    kept = [
        fact for key, fact in other.now.items() if key in world.now and world.now[key].object == fact.object
    ]
    assert len(kept) < len(other.now) / 2


def test_some_namesakes_share_a_word() -> None:
    words = Counter(word for entity in default_world().of_kind("person") for word in entity.name.split())
    assert sum(count > 1 for count in words.values()) >= 30


@few
@given(seeds)
def test_the_same_seed_gives_the_same_world_and_another_seed_another(seed: int) -> None:
    assert make_world(seed, SMALL) == make_world(seed, SMALL)
    assert make_world(seed, SMALL) != make_world(seed + 1, SMALL)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_world_does_not_depend_on_the_process_it_is_made_in(hash_seed: str) -> None:
    code = "from knowwhen.almanac import make_world; print(make_world(3))"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONHASHSEED": hash_seed}
    )
    assert printed.stdout == f"{make_world(3)}\n"


def test_what_changed_since_the_cut_off_is_known_wrongly_until_then_and_right_before() -> None:
    world = default_world()
    changed = next(key for key in world.now if world.knowledge(key) == "known wrongly")
    old, new = world.then[changed], world.now[changed]
    assert old.since <= CUT_OFF < new.since
    assert old.object != new.object
    assert world.facts(new.since - 1)[changed] == old
    assert world.facts(new.since)[changed] == new
