"""The almanac's prose: one passage an entity, plus a few that are out of date or wrong.

An entity's passage tells its facts in varied phrasings and, as encyclopedias do, what it is known for
("… directed Brask Ulmen"). `stale` passages are old editions; `misleading` ones repeat a false rumour
and say that it is one. Both are marked in `Passage.kind`, never in the text's form alone.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from knowwhen.almanac.relations import BY_NAME, relations_of
from knowwhen.almanac.world import Entity, Fact, World


@dataclass(frozen=True)
class AlmanacPassage:
    """A passage of the corpus, and the facts (subject id, relation) that it states truly."""

    id: str
    title: str
    text: str
    states: tuple[tuple[str, str], ...]
    kind: Literal["main", "stale", "misleading"] = "main"


def state(fact: Fact, rng: random.Random, phrasing: int | None = None) -> str:
    """One sentence for a fact, in a phrasing drawn from its relation's."""
    statements = BY_NAME[fact.relation].statements
    chosen = statements[rng.randrange(len(statements)) if phrasing is None else phrasing]
    return chosen.format(s=fact.subject.name, o=fact.object, y=fact.since)


def state_plainly(fact: Fact) -> str:
    """One sentence for a fact, always the same, that names the subject first, as steps of reasoning do."""
    statements = BY_NAME[fact.relation].statements
    plainest = next(s for s in statements if s.index("{s}") < s.index("{o}"))
    return plainest.format(s=fact.subject.name, o=fact.object, y=fact.since)


def entity_passage(
    world: World, entity: Entity, rng: random.Random, at_cut_off: bool = False
) -> AlmanacPassage:
    """What the encyclopedia says of an entity, today's edition or that of the cut-off."""
    facts = world.then if at_cut_off else world.now
    own = [facts[key] for r in relations_of(entity.kind) if (key := (entity.id, r.name)) in facts]
    rng.shuffle(own)
    sentences = [state(fact, rng) for fact in own]
    for i in range(1, len(sentences)):
        if entity.kind != "person" and sentences[i].startswith(f"{entity.name} ") and rng.random() < 0.2:
            sentences[i] = ("They" if entity.kind == "team" else "It") + sentences[i][len(entity.name) :]
    known_for = [fact for fact in world.mentions(entity.name, at_cut_off) if BY_NAME[fact.relation].inverse]
    rng.shuffle(known_for)
    told = known_for[:3]
    sentences += [BY_NAME[f.relation].inverse.format(s=f.subject.name, o=f.object) for f in told]
    return AlmanacPassage(
        entity.id, entity.name, " ".join(sentences), tuple(fact.key for fact in [*own, *told])
    )


def corpus(world: World) -> Iterator[AlmanacPassage]:
    """Every passage of today's almanac: the entities', then stale editions and rumours.

    Of an award that nobody has won nothing is told, and so it has no passage.
    """
    rng = random.Random(f"corpus {world.seed}")
    for entity in world.entities.values():
        if (told := entity_passage(world, entity, rng)).text:
            yield told
    for fact in world.history:
        current = world.now[fact.key]
        if current.object != fact.object and rng.random() < 0.5:
            year = rng.randint(fact.since, current.since - 1)
            yield AlmanacPassage(
                f"{fact.subject.id}-{fact.relation}-{year}",
                f"{fact.subject.name} ({year} edition)",
                f"As of {year}: {state(fact, rng, phrasing=0)}",
                (),
                "stale",
            )
        elif current is fact and fact.subject.kind in ("film", "book") and rng.random() < 0.04:
            wrong = rng.choice([f for f in world.now.values() if f.relation == fact.relation and f != fact])
            if wrong.object != fact.object:
                yield AlmanacPassage(
                    f"{fact.subject.id}-{fact.relation}-rumour",
                    f"Rumours about {fact.subject.name}",
                    f"It is wrongly said of {fact.subject.name}: "
                    + state(Fact(fact.subject, fact.relation, wrong.object, fact.since), rng, phrasing=0),
                    (),
                    "misleading",
                )
