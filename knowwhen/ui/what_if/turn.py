"""What would become of a step under another threshold, and the thresholds that can be moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Step = Mapping[str, Any]
Values = Mapping[str, float]
"""Thresholds by the names of the method's settings."""

Becomes = Literal["stays", "changes", "unknown", "not asked", "no gate"]


@dataclass(frozen=True)
class Dial:
    """A threshold that can be moved.

    Attributes:
        name: of the method's setting.
        label: how the paper calls it.
        value: what the run was asked with.
        low: where it can be moved to at the least.
        high: where it can be moved to at the most.
        step: by which it moves.
    """

    name: str
    label: str
    value: float
    low: float
    high: float
    step: float


@dataclass(frozen=True)
class Turn:
    """What would become of a step.

    Attributes:
        step: as it was recorded.
        becomes: `unknown` where the recorded scores cannot tell; `not asked` where there would be no such
            question; `no gate` where no threshold decided.
        route: the one it would take; empty if that is unknown or none.
        why: what else is to be said.
    """

    step: Step
    becomes: Becomes
    route: str = ""
    why: str = ""


@dataclass(frozen=True)
class Zone:
    """A stretch of scores, all of one route.

    Attributes:
        route: the one taken.
        start: the lowest score in it.
        end: the highest.
    """

    route: str
    start: float
    end: float


class WhatIf(Protocol):
    """A method's gate over the steps of one finished run, which are in the order of the tree."""

    steps: Sequence[Step]
    sampled: bool
    """Whether the scores come from sampled answers, so that those of another run would be others."""

    def dials(self) -> Sequence[Dial]:
        """The thresholds that can be moved; none: no step was decided by one."""

    def turns(self, values: Values) -> list[Turn]:
        """What would become of each step."""

    def zones(self, values: Values) -> list[Zone]:
        """Which scores would take which route, from the lowest to the highest."""


def place(step: Step) -> list[int]:
    """A key by which 1.2 comes before 1.10, and a question before its parts."""
    return [int(part) for part in str(step["id"]).split(".")]
