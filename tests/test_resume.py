"""A run killed with kill -9 in the midst of any call goes on where it was, and asks nothing twice."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lives import Log, life, read_log
from method_worlds import WORLDS

Whole = Callable[[str], tuple[dict[str, Any], Log]]


def places(name: str, most: int) -> list[int]:
    """Calls of a method in which it is to be killed, the first and the last among them."""
    calls = WORLDS[name].calls + WORLDS[name].looked_up
    parts = max(1, min(most, calls) - 1)
    return sorted({1 + round(part * (calls - 1) / parts) for part in range(parts + 1)})


KILLED = [
    (name, way, place)
    for name in WORLDS
    for way, most in (("invoke", 6), ("ainvoke", 2))
    for place in places(name, most)
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The output of a run that nobody killed, and all it asked."""
    made: dict[str, tuple[dict[str, Any], Log]] = {}

    def of(name: str) -> tuple[dict[str, Any], Log]:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = (life(name, folder), read_log(folder))
        return made[name]

    return of


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_has_as_many_calls_as_it_says(name: str, whole: Whole) -> None:
    output, log = whole(name)
    assert output["answer"] == WORLDS[name].answer
    assert log.begun.total() == WORLDS[name].calls + WORLDS[name].looked_up
    assert not log.in_flight


@pytest.mark.parametrize(("name", "way", "place"), KILLED)
def test_a_killed_run_asks_again_only_what_was_in_flight(
    name: str, way: str, place: int, whole: Whole, tmp_path: Path
) -> None:
    output, undisturbed = whole(name)
    life(name, tmp_path, kill_at=place, way=way)
    in_flight = read_log(tmp_path).in_flight
    assert in_flight  # the fatal call among them
    assert life(name, tmp_path, way=way) == output
    asked = read_log(tmp_path).begun
    assert asked - undisturbed.begun <= in_flight
    assert undisturbed.begun - asked == Counter()


@pytest.mark.parametrize("name", ["self_dc", "keqa", "seakr", "taikc"])
def test_a_run_may_be_killed_again_and_again(name: str, whole: Whole, tmp_path: Path) -> None:
    output, undisturbed = whole(name)
    in_flight: Counter[str] = Counter()
    for kill_at in (4, 3):
        before = read_log(tmp_path) if (tmp_path / "log.jsonl").exists() else Log()
        life(name, tmp_path, kill_at=kill_at)
        in_flight += read_log(tmp_path).in_flight - before.in_flight
    assert life(name, tmp_path) == output
    assert read_log(tmp_path).begun - undisturbed.begun <= in_flight
