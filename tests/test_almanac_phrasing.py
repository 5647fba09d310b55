"""Wordings of questions about two things: many to train on, one held out that is made of their pieces."""

import random
import re
from collections.abc import Iterator

import pytest

from knowwhen.almanac.phrasing import BRIDGE_COMPARISONS, COMPARISONS, INTERSECTIONS, SAME, choose


def lists() -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "intersection", INTERSECTIONS
    for relation, wordings in SAME.items():
        yield f"same {relation}", wordings
    for relation, both in (*COMPARISONS.items(), *BRIDGE_COMPARISONS.items()):
        for i, wordings in enumerate(both):
            yield f"{'later' if i else 'earlier'} {relation}", wordings


each_list = pytest.mark.parametrize("wordings", [pytest.param(text, id=name) for name, text in lists()])


def words(wording: str) -> set[str]:
    return set(re.findall(r"{\w}|\w+", wording.lower()))


@each_list
def test_five_or_more_wordings_are_trained_on_and_the_last_is_held_out(wordings: tuple[str, ...]) -> None:
    rng = random.Random(1)
    trained = {choose(wordings, rng, held_out=False) for _ in range(500)}
    assert trained == set(wordings[:-1])
    assert len(trained) >= 5
    assert {choose(wordings, rng, held_out=True) for _ in range(50)} == {wordings[-1]} - trained
    assert {choose(wordings, rng, held_out=None) for _ in range(500)} == set(wordings)


@each_list
def test_the_held_out_wording_has_no_word_that_is_not_trained_on(wordings: tuple[str, ...]) -> None:
    assert words(wordings[-1]) <= set().union(*map(words, wordings[:-1]))


@each_list
def test_every_wording_names_both_in_their_order(wordings: tuple[str, ...]) -> None:
    for wording in wordings:
        assert re.findall(r"{\w}", wording) == ["{a}", "{b}"]
        assert wording.format(a="A", b="B").endswith("?")
