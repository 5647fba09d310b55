"""Questions about a world, each with everything that can be known about it.

Kinds: `one_hop`; `bridge`, `three_hop` and `four_hop` (chains, and a three-fact comparison);
`comparison`; `bridge_comparison` (four facts); `intersection`; `yes_no`. Every question carries its gold
answers, its decomposition with `#n` for the answer of step n, its independent parts (Self-DC's
decomposition: a chain has none but itself), the facts it needs and what a model that has read
everything before the cut-off knows of each.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from knowwhen.almanac.phrasing import (
    BRIDGE_COMPARISONS,
    COMPARISONS,
    DEEDS,
    INTERSECTIONS,
    SAME,
    ask,
    ask_plainly,
    choose,
)
from knowwhen.almanac.relations import BY_NAME, relations_of
from knowwhen.almanac.world import Entity, Fact, Knowledge, World

KINDS = (
    "one_hop",
    "bridge",
    "comparison",
    "bridge_comparison",
    "intersection",
    "yes_no",
    "three_hop",
    "four_hop",
)

Quadrant = Literal[
    "simple known", "simple unknown", "compositional known", "compositional unknown", "compositional mixed"
]


@dataclass(frozen=True)
class AlmanacQuestion:
    """A question with its gold answer and the way to it."""

    question: str
    kind: str
    answers: tuple[str, ...]  # the first is the full one, the rest are aliases
    facts: tuple[Fact, ...]  # in the order needed
    decomposition: tuple[str, ...]  # single-fact questions; `#n` stands for the answer of step n
    parts: tuple[str, ...]  # independent questions; a chain is its own only part
    part_answers: tuple[str, ...]

    @property
    def hops(self) -> int:
        """How many facts it takes."""
        return len(self.facts)


def knowledge(question: AlmanacQuestion, world: World) -> Knowledge | str:
    """What a model that has read everything up to the cut-off knows of it; `mixed` where it knows a part."""
    each = {world.knowledge(fact.key) for fact in question.facts}
    return each.pop() if len(each) == 1 else "mixed"


def quadrant(question: AlmanacQuestion, world: World) -> Quadrant:
    """Self-DC's combination: one fact or several, and whether all, none or some of them are known.

    What is known wrongly counts as unknown: a model that answers from memory alone is wrong in both cases.
    """
    known = [world.knowledge(fact.key) == "known" for fact in question.facts]
    if question.hops == 1:
        return "simple known" if known[0] else "simple unknown"
    if all(known):
        return "compositional known"
    return "compositional mixed" if any(known) else "compositional unknown"


def aliases(answer: str, world: World) -> tuple[str, ...]:
    """An answer and its short form: a person's last word, a company's first, if nobody shares it."""
    entity = world.by_name.get(answer)
    if entity is None or " " not in answer:
        return (answer,)
    short = answer.split()[-1 if entity.kind == "person" else 0]
    shared = sum(short in name.split() for name in world.by_name)
    return (answer, short) if shared == 1 and entity.kind in ("person", "company", "award") else (answer,)


class Asker:
    """Draws questions from some of a world's facts, in trained or in held-out wordings.

    Args:
        world: the world to ask about.
        rng: the source of every choice.
        facts: the facts that questions may need (a split's); default: all of today's.
        held_out: True for wordings nothing is trained on, False for the others, None for all.
    """

    def __init__(
        self,
        world: World,
        rng: random.Random,
        facts: list[Fact] | None = None,
        held_out: bool | None = False,
    ) -> None:
        self.world, self.rng, self.held_out = world, rng, held_out
        self.facts = list(world.now.values()) if facts is None else facts
        self.by_key = {fact.key: fact for fact in self.facts}
        self.by_relation: dict[str, list[Fact]] = {}
        self.by_object: dict[str, list[Fact]] = {}
        self.by_answer: dict[tuple[str, str], list[Fact]] = {}
        for fact in self.facts:
            self.by_relation.setdefault(fact.relation, []).append(fact)
            self.by_object.setdefault(fact.object, []).append(fact)
            self.by_answer.setdefault((fact.relation, fact.object), []).append(fact)
        self.makers: dict[str, Callable[[], AlmanacQuestion | None]] = {
            "one_hop": lambda: self.one_hop(self.rng.choice(self.facts)),
            "bridge": lambda: self.chain(2),
            "comparison": self.comparison,
            "bridge_comparison": self.bridge_comparison,
            "intersection": self.intersection,
            "yes_no": lambda: self.yes_no(self.rng.random() < 0.5),
            "three_hop": lambda: self.chain(3) if self.rng.random() < 0.6 else self.uneven_comparison(),
            "four_hop": lambda: self.chain(4),
        }

    def draw(self, kind: str) -> AlmanacQuestion | None:
        """One question of a kind; None when this draw led nowhere (there may be none at all)."""
        return self.makers[kind]()

    def many(self, kind: str, count: int) -> Iterator[AlmanacQuestion]:
        """Up to `count` different questions of a kind."""
        if kind == "one_hop":
            facts = self.rng.sample(self.facts, min(count, len(self.facts)))
            yield from (self.one_hop(fact) for fact in facts)
            return
        if kind == "yes_no":  # as many of one answer as of the other, so that always saying no is half right
            both = (self._different(partial(self.yes_no, yes), count // 2) for yes in (True, False))
            pairs = zip(*both, strict=False)
            yield from itertools.chain.from_iterable(pairs)
            return
        yield from self._different(self.makers[kind], count)

    def _different(self, make: Callable[[], AlmanacQuestion | None], count: int) -> Iterator[AlmanacQuestion]:
        seen = set()
        for _ in range(count * 60):
            question = make()
            if question is not None and (facts := frozenset(question.facts)) not in seen:
                seen.add(facts)  # of two things, asked about in either order
                yield question
                if len(seen) == count:
                    return

    def _question(
        self,
        question: str,
        kind: str,
        answer: str,
        facts: list[Fact],
        steps: list[str],
        parts: list[tuple[str, str]],
    ) -> AlmanacQuestion:
        return AlmanacQuestion(
            question,
            kind,
            aliases(answer, self.world),
            tuple(facts),
            tuple(steps),
            tuple(part for part, _ in parts) or (question,),
            tuple(given for _, given in parts) or (answer,),
        )

    def one_hop(self, fact: Fact) -> AlmanacQuestion:
        """The question for one fact."""
        question = ask(fact.relation, fact.subject.name, self.rng, self.held_out)
        return self._question(
            question, "one_hop", fact.object, [fact], [ask_plainly(fact.relation, fact.subject.name)], []
        )

    def chain(self, hops: int) -> AlmanacQuestion | None:
        """A chain: each fact's object is the next one's subject."""
        facts = [self.rng.choice(self.facts)]
        while len(facts) < hops:
            entity = self.world.by_name.get(facts[-1].object)
            onward = self._facts_of(entity) if entity else []
            passed = {fact.subject.name for fact in facts}  # a chain never comes back to where it was
            onward = [fact for fact in onward if fact.object not in passed]
            if not onward:
                return None
            facts.append(self.rng.choice(onward))
        phrase = facts[0].subject.name
        for fact in facts[:-1]:
            phrase = BY_NAME[fact.relation].phrase.format(s=phrase)
        steps = [ask_plainly(facts[0].relation, facts[0].subject.name)]
        steps += [ask_plainly(fact.relation, f"#{i}") for i, fact in enumerate(facts[1:], 1)]
        kind = {2: "bridge", 3: "three_hop", 4: "four_hop"}[hops]
        question = ask(facts[-1].relation, phrase, self.rng, self.held_out)
        return self._question(question, kind, facts[-1].object, facts, steps, [])

    def _facts_of(self, entity: Entity) -> list[Fact]:
        keys = ((entity.id, relation.name) for relation in relations_of(entity.kind))
        return [self.by_key[key] for key in keys if key in self.by_key]

    def comparison(self) -> AlmanacQuestion | None:
        """Which of two came first, or last."""
        relation = self.rng.choice([name for name in COMPARISONS if len(self.by_relation.get(name, ())) > 1])
        a, b = self.rng.sample(self.by_relation[relation], 2)
        if a.object == b.object:
            return None
        parts = [(ask_plainly(relation, f.subject.name), f.object) for f in (a, b)]
        question, first = self._which(COMPARISONS[relation], a.subject.name, b.subject.name)
        answer = min(a, b, key=lambda f: int(f.object) if first else -int(f.object)).subject.name
        return self._question(question, "comparison", answer, [a, b], [part for part, _ in parts], parts)

    def _which(self, wordings: tuple[tuple[str, ...], ...], a: str, b: str) -> tuple[str, bool]:
        first = self.rng.random() < 0.5
        return choose(wordings[0 if first else 1], self.rng, self.held_out).format(a=a, b=b), first

    def bridge_comparison(self) -> AlmanacQuestion | None:
        """Which of two has the older director, author or founder."""
        relation = self.rng.choice([n for n in BRIDGE_COMPARISONS if len(self.by_relation.get(n, ())) > 1])
        a, b = self.rng.sample(self.by_relation[relation], 2)
        births = [birth for f in (a, b) if (birth := self._birth_of(f.object)) is not None]
        if len(births) < 2 or births[0].object == births[1].object:
            return None
        steps = [ask_plainly(relation, a.subject.name), ask_plainly(relation, b.subject.name)]
        steps += [ask_plainly("birth", "#1"), ask_plainly("birth", "#2")]
        phrase = BY_NAME[relation].phrase
        parts = [
            (ask_plainly("birth", phrase.format(s=f.subject.name)), birth.object)
            for f, birth in zip((a, b), births, strict=True)
        ]
        question, first = self._which(BRIDGE_COMPARISONS[relation], a.subject.name, b.subject.name)
        years = [int(birth.object) for birth in births]
        answer = (a if (years[0] < years[1]) == first else b).subject.name
        return self._question(
            question, "bridge_comparison", answer, [a, b, births[0], births[1]], steps, parts
        )

    def _birth_of(self, name: str) -> Fact | None:
        entity = self.world.by_name.get(name)
        return self.by_key.get((entity.id, "birth")) if entity else None

    def uneven_comparison(self) -> AlmanacQuestion | None:
        """Who is older, a person named or the director, author or founder of something."""
        relation = self.rng.choice([name for name in BRIDGE_COMPARISONS if self.by_relation.get(name)])
        fact = self.rng.choice(self.by_relation[relation])
        birth = self._birth_of(fact.object)
        other = self.rng.choice(self.by_relation.get("birth", [fact]))
        if birth is None or other.relation != "birth" or birth.object == other.object:
            return None
        phrase = BY_NAME[relation].phrase.format(s=fact.subject.name)
        named, told = (other.subject.name, other.object), (phrase, birth.object)
        # The named one comes first: "the director of A and B" would be read as the director of both.
        question, first = self._which(COMPARISONS["birth"], named[0], told[0])
        answer = (other.subject.name) if (int(other.object) < int(birth.object)) == first else fact.object
        steps = [
            ask_plainly(relation, fact.subject.name),
            ask_plainly("birth", "#1"),
            ask_plainly("birth", other.subject.name),
        ]
        parts = [(ask_plainly("birth", name), year) for name, year in (named, told)]
        return self._question(question, "three_hop", answer, [fact, birth, other], steps, parts)

    def intersection(self) -> AlmanacQuestion | None:
        """Who did both of two things."""
        fact = self.rng.choice([f for name in DEEDS for f in self.by_relation.get(name, ())])
        others = [
            other
            for other in self.by_object[fact.object]
            if other.relation in DEEDS and other.subject != fact.subject
        ]
        if not others:
            return None
        other = self.rng.choice(others)
        parts = [(ask_plainly(f.relation, f.subject.name), f.object) for f in (fact, other)]
        deeds = [DEEDS[f.relation].format(s=f.subject.name) for f in (fact, other)]
        question = choose(INTERSECTIONS, self.rng, self.held_out).format(a=deeds[0], b=deeds[1])
        steps = [part for part, _ in parts]
        return self._question(question, "intersection", fact.object, [fact, other], steps, parts)

    def yes_no(self, yes: bool) -> AlmanacQuestion | None:
        """Whether two facts agree, as they do if the answer is to be yes."""
        groups = self.by_answer if yes else self.by_relation
        among = [facts for facts in groups.values() if len(facts) > 1 and facts[0].relation in SAME]
        if not among:
            return None
        a, b = self.rng.sample(self.rng.choice(among), 2)
        if yes != (a.object == b.object):
            return None
        relation = a.relation
        parts = [(ask_plainly(relation, f.subject.name), f.object) for f in (a, b)]
        question = choose(SAME[relation], self.rng, self.held_out).format(a=a.subject.name, b=b.subject.name)
        answer = "yes" if yes else "no"
        return self._question(question, "yes_no", answer, [a, b], [part for part, _ in parts], parts)
