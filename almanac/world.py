"""A world from a seed: entities and dated facts, of which those before the cut-off are common knowledge.

`World` is pure data. A fact says when it became true; a fact of a changing relation (a mayor, a chief)
may have a later one that replaces it. A model that read everything before the cut-off knows a fact if it
was true by then and still is, knows it wrongly if it was replaced since, and does not know the rest.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Literal

from knowwhen.almanac.relations import Relation, relations_of

Knowledge = Literal["known", "unknown", "known wrongly"]

DEFAULT_SEED = 7
BEGINNING = 1950  # the year of the oldest facts
CUT_OFF = 2020  # the last year that is common knowledge
TODAY = 2030

# How many of each kind, and how many of them are common knowledge.
COUNTS: dict[str, tuple[int, int]] = {
    "country": (16, 16),
    "city": (60, 52),
    "award": (14, 14),
    "person": (260, 180),
    "film": (170, 100),
    "book": (120, 72),
    "company": (90, 54),
    "team": (50, 32),
}
SUFFIXES = {
    "company": ("Works", "Group", "Motors", "Foods", "Lines", "Mills"),
    "team": ("Rovers", "Hawks", "Lions", "Wolves", "Stars", "Bears"),
    "award": ("Prize", "Medal", "Award"),
}


@dataclass(frozen=True)
class Entity:
    """Somebody or something with a name; `since` is the year the world first heard of it."""

    id: str
    kind: str
    name: str
    since: int


@dataclass(frozen=True)
class Fact:
    """`subject` stands in `relation` to `object` (an entity's name, or a year) since the year `since`."""

    subject: Entity
    relation: str
    object: str
    since: int

    @property
    def key(self) -> tuple[str, str]:
        """Subject and relation: what a question asks about."""
        return (self.subject.id, self.relation)


@lru_cache(maxsize=1)
def name_words() -> tuple[str, ...]:
    """The fixed pool of invented words that the names of every world are made of."""
    return tuple(files("knowwhen.almanac").joinpath("words.txt").read_text("utf-8").split())


@dataclass(frozen=True)
class World:
    """Entities by id, and every fact that was ever true, oldest first."""

    seed: int
    entities: dict[str, Entity]
    history: tuple[Fact, ...]
    cut_off: int = CUT_OFF
    today: int = TODAY

    def facts(self, as_of: int | None = None) -> dict[tuple[str, str], Fact]:
        """What is true in the year `as_of` (default: today), by subject and relation."""
        year = self.today if as_of is None else as_of
        return {fact.key: fact for fact in self.history if fact.since <= year}

    @cached_property
    def now(self) -> dict[tuple[str, str], Fact]:
        """What is true today."""
        return self.facts()

    @cached_property
    def then(self) -> dict[tuple[str, str], Fact]:
        """What was true at the cut-off: what a model trained up to it has read."""
        return self.facts(self.cut_off)

    def knowledge(self, key: tuple[str, str]) -> Knowledge:
        """Whether a model that has read everything up to the cut-off knows this fact of today."""
        old = self.then.get(key)
        if old is None:
            return "unknown"
        return "known" if old.object == self.now[key].object else "known wrongly"

    @cached_property
    def by_name(self) -> dict[str, Entity]:
        """Entities by their names, which are unique in a world."""
        return {entity.name: entity for entity in self.entities.values()}

    @cached_property
    def _mentioned(self) -> tuple[dict[str, list[Fact]], dict[str, list[Fact]]]:
        now: dict[str, list[Fact]] = {}
        then: dict[str, list[Fact]] = {}
        for facts, index in ((self.now, now), (self.then, then)):
            for fact in facts.values():
                index.setdefault(fact.object, []).append(fact)
        return now, then

    def mentions(self, name: str, at_cut_off: bool = False) -> list[Fact]:
        """The facts of today (or of the cut-off) whose object is this name."""
        return list(self._mentioned[1 if at_cut_off else 0].get(name, ()))

    def of_kind(self, kind: str) -> list[Entity]:
        """The entities of one kind, in the order made."""
        return [entity for entity in self.entities.values() if entity.kind == kind]


def make_world(seed: int = DEFAULT_SEED, counts: dict[str, tuple[int, int]] | None = None) -> World:
    """Make the world of a seed; the same seed gives the same world.

    Args:
        seed: any whole number; `DEFAULT_SEED` is the world whose past the pocket model has read.
        counts: for each kind how many entities, and how many of them are older than the cut-off; at least
            as many cities as countries, so that each country has a capital of its own.

    Raises:
        ValueError: If there are fewer cities than countries.
    """
    counts = counts or COUNTS
    countries, cities = counts["country"][0], counts["city"][0]
    if cities < countries:
        raise ValueError(
            f"{countries} countries need a capital each, and there are {cities} cities; ask for more cities"
        )
    rng = random.Random(f"almanac {seed}")
    entities: dict[str, Entity] = {}
    names = _names(rng)
    for kind, (total, old) in counts.items():
        for i in range(total):
            since = rng.randint(BEGINNING, CUT_OFF) if i < old else rng.randint(CUT_OFF + 1, TODAY)
            if i <= old // 20:  # a few of each kind are there from the beginning, for the others to refer to
                since = BEGINNING
            entities[f"{kind}-{i}"] = Entity(f"{kind}-{i}", kind, names(kind), since)
    _found_capitals(entities)
    history = [fact for entity in entities.values() for fact in _facts_about(entity, entities, rng)]
    return World(seed, entities, tuple(sorted(history, key=lambda fact: fact.since)))


def _found_capitals(entities: dict[str, Entity]) -> None:
    """The city of a country's number is its capital, and so as old as the country."""
    for country in [e for e in entities.values() if e.kind == "country"]:
        city = entities[_twin(country, "city")]
        entities[city.id] = replace(city, since=country.since)


def _twin(entity: Entity, kind: str) -> str:
    return entity.id.replace(entity.kind, kind)


def retold(world: World, seed: int) -> World:
    """The names of the cut-off with other facts: what anybody remembers of them is wrong there."""
    rng = random.Random(f"retold {world.seed} {seed}")
    entities = {id: entity for id, entity in world.entities.items() if entity.since <= world.cut_off}
    for id, entity in entities.items():
        if entity.since > BEGINNING:
            entities[id] = replace(entity, since=rng.randint(BEGINNING, world.cut_off))
    _found_capitals(entities)
    history = [fact for entity in entities.values() for fact in _facts_about(entity, entities, rng)]
    return World(seed, entities, tuple(sorted(history, key=lambda fact: fact.since)))


@lru_cache(maxsize=4)
def default_world() -> World:
    """The world whose past the pocket model has read."""
    return make_world(DEFAULT_SEED)


class _names:
    """Draws names that are unique in their world; some share a word with an earlier one, as namesakes do."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.taken: set[str] = set()
        self.doubles: list[list[str]] = []
        self.spare = list(name_words())
        rng.shuffle(self.spare)

    def __call__(self, kind: str) -> str:
        while True:
            name = self._draw(kind)
            if name not in self.taken:
                self.taken.add(name)
                return name

    def _draw(self, kind: str) -> str:
        if kind in ("city", "country"):
            return self.spare.pop()  # a place's word is nobody else's
        words = [self.rng.choice(self.spare) for _ in range(2)]
        if self.doubles and self.rng.random() < 0.25:
            shared = self.rng.randrange(2)
            words[shared] = self.rng.choice(self.doubles)[shared]
        if kind in SUFFIXES:
            return f"{words[0]} {self.rng.choice(SUFFIXES[kind])}"
        self.doubles.append(words)
        return " ".join(words)


def _facts_about(subject: Entity, entities: dict[str, Entity], rng: random.Random) -> Iterator[Fact]:
    for relation in relations_of(subject.kind):
        if relation.name == "award" and rng.random() < 0.5:
            continue
        yield Fact(
            subject, relation.name, _object(relation, subject, subject.since, entities, rng), subject.since
        )
        if relation.changes and rng.random() < 0.5:
            since = rng.randint(max(subject.since + 1, CUT_OFF - 8), TODAY + 4)
            if since <= TODAY:
                yield Fact(subject, relation.name, _object(relation, subject, since, entities, rng), since)


def _object(
    relation: Relation, subject: Entity, year: int, entities: dict[str, Entity], rng: random.Random
) -> str:
    if relation.object == "year":
        return str(rng.randint(year - 70, year - 20) if relation.name == "birth" else year)
    twin = entities.get(_twin(subject, relation.object))
    if relation.name in ("capital", "country") and twin is not None:
        return twin.name
    # Nobody acts before the world has heard of them, and what is new is often the work of somebody new:
    # else there were no long chains of which nothing is known.
    able = [e for e in entities.values() if e.kind == relation.object and e.since <= year]
    new = [e for e in able if e.since > CUT_OFF]
    return rng.choice(new if new and rng.random() < 0.7 else able).name
