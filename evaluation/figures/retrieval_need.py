"""Whether retrieval was needed, question by question, and whether a method retrieved when it was.

Two reference runs tell: one that never retrieves and one that always does.
"""

from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from knowwhen.evaluation.figures.columns import Labels, Mask
from knowwhen.evaluation.figures.resampling import mean_of, optional_mean
from knowwhen.evaluation.intervals import Figure

Need = Literal["needed", "unneeded", "harmful", "neither"]
"""Wrong without and right with retrieval; right both ways; right without and wrong with; wrong both ways."""

NEEDS: tuple[Need, ...] = get_args(Need)


class NeedFigures(BaseModel, frozen=True, extra="forbid"):
    """What retrieval does on these questions, whatever the method."""

    never: str
    """The run without retrieval."""
    always: str
    """The run with retrieval for every question."""
    questions: dict[Need, int]
    shares: dict[Need, Figure]
    """Of all questions."""
    ideal: Figure
    """Share that is right if retrieval is used where it is needed and nowhere else: the best of a gate."""


class Chosen(BaseModel, frozen=True, extra="forbid"):
    """What a method did with the questions of one need."""

    questions: int
    retrieved: int
    right: int


class BoundaryFigures(BaseModel, frozen=True, extra="forbid"):
    """Whether a method retrieved where it was needed. Shares are None of no questions."""

    by_need: dict[Need, Chosen]
    over: Figure
    """Over-retrieval: share of all questions that it retrieved for, though right without."""
    under: Figure
    """Under-retrieval: share of all questions that it did not retrieve for, though needed."""
    over_of_right: Figure | None
    """Over-retrieval as a share of the questions that are right without."""
    under_of_needed: Figure | None
    """Under-retrieval as a share of the questions with need."""
    agreement: Figure | None
    """Of the questions right without or with need, the share where it did as it should."""


class NeedGroup(BaseModel, frozen=True, extra="forbid"):
    """The questions of one number of hops, or of one kind."""

    name: str
    need: NeedFigures
    boundary: dict[str, BoundaryFigures]
    """By method."""


def needs(right_without: Mask, right_with: Mask) -> NDArray[np.int8]:
    """Of each question the place of its need in `NEEDS`."""
    return np.select(
        [~right_without & right_with, right_without & right_with, right_without & ~right_with],
        [0, 1, 2],
        default=3,
    ).astype(np.int8)


def need_figures(need: NDArray[np.int8], never: str, always: str, seed: int = 0) -> NeedFigures:
    """How often retrieval is needed, of one question or more.

    Args:
        need: as `needs` gives it.
        never: the name of the run without retrieval.
        always: the name of the run that always retrieves.
        seed: of the intervals.
    """
    masks = {name: need == place for place, name in enumerate(NEEDS)}
    return NeedFigures(
        never=never,
        always=always,
        questions={name: int(mask.sum()) for name, mask in masks.items()},
        shares={name: mean_of(mask, seed) for name, mask in masks.items()},
        ideal=mean_of(~masks["neither"], seed),
    )


def boundary_figures(need: NDArray[np.int8], retrieved: Mask, right: Mask, seed: int = 0) -> BoundaryFigures:
    """Whether a method retrieved where it was needed, of one question or more.

    Args:
        need: as `needs` gives it.
        retrieved: whether the method did.
        right: whether the method's answer is.
        seed: of the intervals.
    """
    masks = {name: need == place for place, name in enumerate(NEEDS)}
    needed, known = masks["needed"], masks["unneeded"] | masks["harmful"]
    over, under = known & retrieved, needed & ~retrieved
    return BoundaryFigures(
        by_need={
            name: Chosen(
                questions=int(mask.sum()),
                retrieved=int((mask & retrieved).sum()),
                right=int((mask & right).sum()),
            )
            for name, mask in masks.items()
        },
        over=mean_of(over, seed),
        under=mean_of(under, seed),
        over_of_right=optional_mean(over[known], seed),
        under_of_needed=optional_mean(under[needed], seed),
        agreement=optional_mean(~(over | under)[known | needed], seed),
    )


def need_groups(
    labels: Labels,
    need: NDArray[np.int8],
    never: str,
    always: str,
    retrieved: Mapping[str, Mask],
    right: Mapping[str, Mask],
    seed: int = 0,
) -> list[NeedGroup]:
    """The same of each group of questions that have a label in common; those without one are in none.

    Args:
        labels: of the questions, such as their hops.
        need: as `needs` gives it.
        never: the name of the run without retrieval.
        always: the name of the run that always retrieves.
        retrieved: by method, whether it did.
        right: by method, whether its answer is.
        seed: of the intervals.
    """
    groups = ((name, labels.codes == code) for code, name in enumerate(labels.names))
    return [
        NeedGroup(
            name=name,
            need=need_figures(need[group], never, always, seed),
            boundary={
                method: boundary_figures(need[group], retrieved[method][group], right[method][group], seed)
                for method in retrieved
            },
        )
        for name, group in groups
        if group.any()
    ]
