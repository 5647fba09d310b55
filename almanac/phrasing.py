"""How a question is put: which wordings there are, and which are held out of all training."""

import random

from knowwhen.almanac.relations import BY_NAME, FRAMES, RELATIONS

_INDEX = {relation.name: i for i, relation in enumerate(RELATIONS)}

# Comparisons by a year: for each relation the questions whose answer has the earlier, and the later, one.
COMPARISONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "release": (
        ("Which film came out first, {a} or {b}?", "Which film was released earlier, {a} or {b}?",
         "Which of the films {a} and {b} is older?", "Which film is older, {a} or {b}?"),
        ("Which film came out last, {a} or {b}?", "Which film was released later, {a} or {b}?",
         "Which of the films {a} and {b} is newer?", "Which film is newer, {a} or {b}?"),
    ),
    "publication": (
        ("Which book appeared first, {a} or {b}?", "Which book was published earlier, {a} or {b}?",
         "Which of the books {a} and {b} is older?", "Which book is older, {a} or {b}?"),
        ("Which book appeared last, {a} or {b}?", "Which book was published later, {a} or {b}?",
         "Which of the books {a} and {b} is newer?", "Which book is newer, {a} or {b}?"),
    ),
    "birth": (
        ("Who was born first, {a} or {b}?", "Who was born earlier, {a} or {b}?",
         "Which of the persons {a} and {b} is older?", "Who is older, {a} or {b}?"),
        ("Who was born last, {a} or {b}?", "Who was born later, {a} or {b}?",
         "Which of the persons {a} and {b} is younger?", "Who is younger, {a} or {b}?"),
    ),
    "founding": (
        ("Which company was founded first, {a} or {b}?", "Which company was founded earlier, {a} or {b}?",
         "Which of the companies {a} and {b} is older?", "Which company is older, {a} or {b}?"),
        ("Which company was founded last, {a} or {b}?", "Which company was founded later, {a} or {b}?",
         "Which of the companies {a} and {b} is newer?", "Which company is newer, {a} or {b}?"),
    ),
}  # fmt: skip

# "Which film has the older director": for each relation to a person, by earlier and by later birth.
BRIDGE_COMPARISONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    name: (
        (f"Which {kind} has the older {role}, {{a}} or {{b}}?",
         f"Which of the {kinds} {{a}} and {{b}} has the older {role}?",
         f"Which {kind} has the {role} who was born first, {{a}} or {{b}}?",
         f"Which of {{a}} and {{b}} has the older {role}?"),
        (f"Which {kind} has the younger {role}, {{a}} or {{b}}?",
         f"Which of the {kinds} {{a}} and {{b}} has the younger {role}?",
         f"Which {kind} has the {role} who was born last, {{a}} or {{b}}?",
         f"Which of {{a}} and {{b}} has the younger {role}?"),
    )
    for name, kind, kinds, role in (
        ("director", "film", "films", "director"),
        ("star", "film", "films", "star"),
        ("author", "book", "books", "author"),
        ("founder", "company", "companies", "founder"),
    )
}  # fmt: skip

# Yes or no: the two facts agree, or not.
SAME: dict[str, tuple[str, ...]] = {
    "director": ("Were {a} and {b} directed by the same person?", "Do {a} and {b} have the same director?"),
    "author": ("Were {a} and {b} written by the same person?", "Do {a} and {b} have the same author?"),
    "birthplace": ("Were {a} and {b} born in the same city?", "Do {a} and {b} have the same birthplace?"),
    "country": ("Are {a} and {b} in the same country?", "Do {a} and {b} lie in the same country?"),
    "headquarters": ("Are {a} and {b} based in the same city?", "Do {a} and {b} have the same home city?"),
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
INTERSECTIONS = ("Who {a} and {b}?", "Who {a} and also {b}?", "Which person {a} and {b}?")


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
    """One of several wordings; the last of each list is held out of training."""
    if held_out is None:
        return rng.choice(wordings)
    return wordings[-1] if held_out else rng.choice(wordings[:-1])
