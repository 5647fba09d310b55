"""Reads the almanac back: what its history makes true in a year, and what its prose and questions mean.

What is true is worked out anew from the dated facts, and every sentence and wording is read by a pattern, so
that a test shares nothing with how they are made but the list of relations.
"""

import re

from knowwhen.almanac import World
from knowwhen.almanac.phrasing import phrasings
from knowwhen.almanac.relations import BY_NAME, RELATIONS

Truth = dict[tuple[str, str], str]  # the object, by subject's name and relation
Stated = set[tuple[str, str, str]]  # subject, relation and object
Patterns = list[tuple[str, str, re.Pattern[str]]]  # relation, template, pattern


def truth(world: World, year: int) -> Truth:
    """What was true in a year: of each subject and relation, the newest fact that is not of later."""
    newest: dict[tuple[str, str], int] = {}
    objects: Truth = {}
    for fact in world.history:
        key = (fact.subject.name, fact.relation)
        if fact.since <= year and fact.since >= newest.get(key, fact.since):
            newest[key], objects[key] = fact.since, fact.object
    return objects


def pattern(template: str) -> re.Pattern[str]:
    """What a template looks like when it is filled; groups `s` and `o`."""
    text = re.escape(template).replace(r"\{y\}", r"\d{4}")
    return re.compile(text.replace(r"\{s\}", "(?P<s>.+)").replace(r"\{o\}", "(?P<o>.+)"))


STATEMENTS: Patterns = [
    (relation.name, statement, pattern(statement))
    for relation in RELATIONS
    for statement in (*relation.statements, relation.inverse)
    if statement
]
PHRASES: Patterns = [(r.name, r.phrase, pattern(r.phrase)) for r in RELATIONS]
PLAIN: Patterns = [(r.name, r.questions[0][0], pattern(r.questions[0][0])) for r in RELATIONS]
WORDINGS: Patterns = [(r.name, text, pattern(text)) for r in RELATIONS for text in phrasings(r.name, None)]


def sentences(text: str) -> list[str]:
    """The sentences of a passage."""
    return [f"{sentence}." for sentence in text.removesuffix(".").split(". ")]


def stated(text: str, title: str, world: World) -> Stated:
    """What a passage says; "It" and "They" are what its title names."""
    said: Stated = set()
    for sentence in sentences(text):
        resolved = re.sub(r"^(It|They) ", f"{title} ", sentence)
        readings = {
            (match["s"], relation, match["o"])
            for relation, _, statement in STATEMENTS
            if (match := statement.fullmatch(resolved)) and _fits(match["s"], match["o"], relation, world)
        }
        assert len(readings) == 1, f"{sentence!r} is read as {readings}"
        said |= readings
    return said


def _fits(subject: str, object_: str, relation: str, world: World) -> bool:
    if subject not in world.by_name or world.by_name[subject].kind != BY_NAME[relation].subject:
        return False
    if BY_NAME[relation].object == "year":
        return object_.isdigit()
    return object_ in world.by_name and world.by_name[object_].kind == BY_NAME[relation].object
