"""An answer's steps as the tree that they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Branch:
    """A (sub-)question and its parts."""

    step: Mapping[str, Any]
    parts: list["Branch"] = field(default_factory=list)


def tree_of(steps: Sequence[Mapping[str, Any]]) -> list[Branch]:
    """The questions that are part of no other, with their parts below them; no step is lost.

    A foreign graph's steps may name a parent that is not there, or themselves; they come to the top.
    """
    branches = [Branch(step) for step in steps]
    by_id = {str(branch.step.get("id")): branch for branch in reversed(branches)}
    top = []
    for branch in branches:
        parent = by_id.get(str(branch.step.get("parent")))
        if parent is None or _is_above(branch, parent, by_id):
            top.append(branch)
        else:
            parent.parts.append(branch)
    for branch in branches:
        branch.parts.sort(key=_place)
    return sorted(top, key=_place)


def _is_above(branch: Branch, other: Branch, by_id: Mapping[str, Branch]) -> bool:
    """Whether one is the other, or one that the other is a part of."""
    seen: list[Branch] = []
    above: Branch | None = other
    while above is not None and not any(above is each for each in seen):
        if above is branch:
            return True
        seen.append(above)
        above = by_id.get(str(above.step.get("parent")))
    return any(above is each for each in seen)


def _place(branch: Branch) -> list[tuple[int, str]]:
    """A key by which 1.2 comes before 1.10."""
    return [(len(part), part) for part in str(branch.step.get("id")).split(".")]
