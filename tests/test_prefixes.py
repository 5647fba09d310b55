"""Beginnings that prompts share are kept, the least recently used going first."""

import torch

from knowwhen.models.key_values import Layers
from knowwhen.models.prefixes import SHORTEST, Prefixes, shared

TOKEN = 2 * 8 * 4  # bytes of one token's keys and values in `beginning`


def beginning(tokens: int) -> Layers:
    return [(torch.full((1, 2, tokens, 4), 1.0), torch.full((1, 2, tokens, 4), 2.0))]


def lengths(prefixes: Prefixes) -> list[int]:
    return sorted(len(tokens) for tokens in prefixes._kept)


def found(prefixes: Prefixes, prompt: list[int]) -> int:
    layers = prefixes.find(prompt)
    return layers[0][0].shape[-2] if layers else 0


def test_a_beginning_is_kept_once_two_prompts_had_it() -> None:
    prefixes = Prefixes()
    prefixes.learn([*range(30), 90], beginning, 10**6)
    assert found(prefixes, [*range(30), 91]) == 0
    prefixes.learn([*range(30), 91], beginning, 10**6)
    assert found(prefixes, [*range(30), 92]) == 30
    assert found(prefixes, [*range(20), 93]) == 20  # a part of it is known too
    assert found(prefixes, [93, *range(30)]) == 0


def test_a_beginning_too_short_to_be_worth_it_is_not_kept() -> None:
    prefixes = Prefixes()
    for last in (90, 91, 92):
        prefixes.learn([*range(SHORTEST - 1), last], beginning, 10**6)
    assert lengths(prefixes) == []


def test_a_longer_beginning_takes_the_place_of_the_one_it_holds() -> None:
    prefixes = Prefixes()
    for prompt in ([*range(20), 90], [*range(20), 91], [*range(40), 92], [*range(40), 93]):
        prefixes.learn(prompt, beginning, 10**6)
    assert lengths(prefixes) == [40]


def test_what_is_kept_stays_within_its_room_and_the_last_used_stays() -> None:
    prefixes = Prefixes()
    room = 2 * 30 * TOKEN
    for start in (0, 100, 200):
        for last in (90, 91):
            prefixes.learn([*range(start, start + 30), last], beginning, room)
        assert found(prefixes, list(range(30))) == 30
    assert prefixes.size == room
    assert found(prefixes, list(range(100, 130))) == 0
    assert found(prefixes, list(range(200, 230))) == 30
    for last in (90, 91):
        prefixes.learn([*range(300, 400), last], beginning, room)
    assert lengths(prefixes) == [30, 30]  # the new one does not fit alone, so it drives nobody out


def test_without_room_nothing_is_kept() -> None:
    prefixes = Prefixes()
    for last in (90, 91, 92):
        prefixes.learn([*range(30), last], beginning, 0)
    assert prefixes.size == 0


def test_shared_tokens_are_counted_from_the_beginning() -> None:
    assert shared([1, 2, 3], [1, 2, 4, 3]) == 2
    assert shared([1, 2], [1, 2, 3]) == 2
    assert shared([], [1]) == shared([2], [1]) == 0
