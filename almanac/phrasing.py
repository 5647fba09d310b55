"""How a question is put: which wordings there are, and which are held out of all training."""

import random

from knowwhen.almanac.relations import BY_NAME, FRAMES, RELATIONS

_INDEX = {relation.name: i for i, relation in enumerate(RELATIONS)}

# Of every list of wordings the last one is held out of training: it puts together pieces of the others.


def _comparison(
    which: str, the_kind: str, comes: str, came: str, younger: str
) -> tuple[tuple[str, ...], ...]:
    """The questions whose answer has the earlier, and the later, year."""
    return tuple(
        (
            f"{which} {comes} {ordinal}, {{a}} or {{b}}?",
            f"{which} {came} {adverb}, {{a}} or {{b}}?",
            f"Which of {the_kind}{{a}} and {{b}} is {adjective}?",
            f"Which of {the_kind}{{a}} and {{b}} {comes} {ordinal}?",
            f"Which of {{a}} and {{b}} {came} {adverb}?",
            f"Of {{a}} and {{b}}, {which.lower()} is {adjective}?",
            f"{which} is the {adjective} one, {{a}} or {{b}}?",
            f"{which} is {adjective}: {{a}} or {{b}}?",
            f"Of {the_kind}{{a}} and {{b}}, which one {comes} {ordinal}?",
            f"{which} is {adjective}, {{a}} or {{b}}?",
        )
        for ordinal, adverb, adjective in (("first", "earlier", "older"), ("last", "later", younger))
    )


# Comparisons by the year of a relation.
COMPARISONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "release": _comparison("Which film", "the films ", "came out", "was released", "newer"),
    "publication": _comparison("Which book", "the books ", "appeared", "was published", "newer"),
    "birth": _comparison("Who", "", "was born", "was born", "younger"),
    "founding": _comparison("Which company", "the companies ", "was founded", "was founded", "newer"),
}


def _bridge_comparison(kind: str, kinds: str, role: str) -> tuple[tuple[str, ...], ...]:
    """The questions whose answer has the person who was born earlier, and later."""
    return tuple(
        (
            f"Which {kind} has the {adjective} {role}, {{a}} or {{b}}?",
            f"Which of the {kinds} {{a}} and {{b}} has the {adjective} {role}?",
            f"Which {kind} has the {role} who was born {ordinal}, {{a}} or {{b}}?",
            f"Of {{a}} and {{b}}, which {kind} has the {adjective} {role}?",
            f"Which of {{a}} and {{b}} has the {role} who was born {ordinal}?",
            f"Which of {{a}} and {{b}} has the {adjective} {role}?",
        )
        for adjective, ordinal in (("older", "first"), ("younger", "last"))
    )


# "Which film has the older director": by a relation to a person.
BRIDGE_COMPARISONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "director": _bridge_comparison("film", "films", "director"),
    "star": _bridge_comparison("film", "films", "star"),
    "author": _bridge_comparison("book", "books", "author"),
    "founder": _bridge_comparison("company", "companies", "founder"),
}


def _agreement(done: str, together: str, alike: str, role: str) -> tuple[str, ...]:
    """The questions whether two have one and the same: `done` by or in it, and its `role` for them."""
    is_, done = done.split(" ", 1)
    return (
        f"{is_} {{a}} and {{b}} {done} the same {together}?",
        f"Do {{a}} and {{b}} have the same {role}?",
        f"{is_} {{a}} and {{b}} {done} one and the same {together}?",
        f"Is the {role} of {{a}} also the {role} of {{b}}?",
        f"Do {{a}} and {{b}} share their {role}?",
        alike,
        f"Do both {{a}} and {{b}} have the same {role}?",
        f"{is_} both {{a}} and {{b}} {done} the same {together}?",
    )


# Yes or no: the two facts agree, or not.
SAME: dict[str, tuple[str, ...]] = {
    "director": _agreement(
        "Were directed by", "person", "Did the same person direct {a} and {b}?", "director"
    ),
    "author": _agreement("Were written by", "person", "Did the same person write {a} and {b}?", "author"),
    "birthplace": _agreement(
        "Were born in", "city", "Did {a} and {b} come from the same city?", "birthplace"
    ),
    "country": _agreement("Are in", "country", "Do {a} and {b} lie in the same country?", "country"),
    "headquarters": _agreement(
        "Are based in", "city", "Do {a} and {b} work from the same city?", "home city"
    ),
}

# One person who did both: the verb that each relation lends to "Who … and …?".
DEEDS: dict[str, str] = {
    "director": "directed {s}",
    "star": "starred in {s}",
    "author": "wrote {s}",
    "founder": "founded {s}",
    "chief": "heads {s}",
    "coach": "trains {s}",
}
INTERSECTIONS = (
    "Who {a} and {b}?",
    "Who {a} and also {b}?",
    "Who both {a} and {b}?",
    "Which person {a} and also {b}?",
    "Who is it that {a} and {b}?",
    "Which single person {a} and {b}?",
    "Which person {a} and {b}?",
)


def phrasings(relation: str, held_out: bool | None) -> list[str]:
    """The wordings of a relation's question, with `{s}` open.

    Args:
        relation: its name.
        held_out: True for those that nothing is trained on, False for the others, None for all.
    """
    wordings = []
    for direct, clause in BY_NAME[relation].questions:
        wordings += [direct, *(frame.format(clause) for frame in FRAMES)]
    return [w for i, w in enumerate(wordings) if held_out is None or held_out == _is_held_out(relation, i)]


def _is_held_out(relation: str, i: int) -> bool:
    # The plainest wording is always trained on; of the rest every fourth is held out.
    return i > 0 and (i + _INDEX[relation]) % 4 == 0


def ask(relation: str, subject: str, rng: random.Random, held_out: bool | None = False) -> str:
    """A question for a relation's object, in a drawn wording."""
    return rng.choice(phrasings(relation, held_out)).format(s=subject)


def ask_plainly(relation: str, subject: str) -> str:
    """The plainest question for a relation's object: the wording that decompositions use."""
    return BY_NAME[relation].questions[0][0].format(s=subject)


def choose(wordings: tuple[str, ...], rng: random.Random, held_out: bool | None = False) -> str:
    """One of several wordings; the last of each list is the one held out of training."""
    if held_out is None:
        return rng.choice(wordings)
    return wordings[-1] if held_out else rng.choice(wordings[:-1])
