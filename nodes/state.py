"""What flows through a method's graph: the question in, one state a question, the answer out.

A server may put several questions to a graph in one thread, whose state stays. So nothing is added up by the
channels, but for what parallel parts write, and a graph's first node is shown what is `Asked` alone.
"""

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.tools.passage import Passage

Route = Literal["generate", "retrieve", "decompose", "confident", "direct"]
ROOT = "1"  # the id of the question as asked; its sub-questions are 1.1, 1.2, …, theirs 1.1.1, …


class Step(TypedDict):
    """One question of the tree and how it was answered; all of it is JSON."""

    id: Annotated[str, Field(description="Place in the tree: 1 is the question, 1.2 its second part")]
    parent: Annotated[str | None, Field(description="The id of the question this is a part of")]
    question: Annotated[str, Field(description="As asked")]
    resolved: Annotated[str, Field(description="With references to earlier answers filled in")]
    route: Annotated[Route, Field(description="How it was answered")]
    score: Annotated[float | None, Field(description="What the gate decided by; None without a gate")]
    estimator: Annotated[str | None, Field(description="What gave the score")]
    passages: Annotated[list[Passage], Field(description="What was read, retrieved or generated")]
    answer: Annotated[str, Field(description="Its answer")]
    notes: Annotated[list[str], Field(description="What did not go as planned, and what was done")]
    details: Annotated[dict[str, Any], Field(description="What else a method saw, such as its samples")]


class Question(TypedDict):
    """What a method is asked."""

    question: Annotated[str, Field(description="The question to answer")]


class Answer(TypedDict, total=False):
    """What every method gives back; all of it is JSON."""

    answer: Annotated[str, Field(description="The answer, in a few words")]
    explanation: Annotated[str, Field(description="Where the answer comes from")]
    confidence: Annotated[
        float | None, Field(description="How sure the model was of the whole question, 0 to 1")
    ]
    uncertainty: Annotated[
        float | None,
        Field(description="How unsure it was of the answer; higher is less sure, without bounds"),
    ]
    steps: Annotated[list[Step], Field(description="The question tree, flat, in the order answered")]
    cost: Annotated[Cost, Field(description="Calls, tokens, retrievals and passages, in all")]


class Asked(Question, total=False):
    """A question and its place in the tree."""

    as_asked: str  # with references to earlier answers, which the question has filled in
    id: str
    parent: str | None
    depth: int  # 0 for the question as asked


class State(Asked, Answer, total=False):
    """One question on its way to an answer."""

    route: Route
    estimator: str | None
    passages: list[Passage]
    parts: list[str]  # independent sub-questions
    part_outputs: Annotated[dict[str, Answer], operator.or_]  # by their ids
    notes: list[str]
    details: dict[str, Any]


def part_ids(state: State) -> list[str]:
    """The ids of a divided question's parts."""
    return [f"{state.get('id', ROOT)}.{i}" for i in range(1, len(state["parts"]) + 1)]


def spent(state: State, *costs: Cost) -> Cost:
    """What the question has cost so far, with these."""
    return reduce(add_costs, costs, state.get("cost", NO_COST))


def noted(state: State, *notes: str | None) -> list[str]:
    """The notes on the question so far, with these; None is no note."""
    return [*state.get("notes", ()), *(note for note in notes if note is not None)]


def step_of(
    state: State, route: Route, answer: str, passages: Sequence[Passage] = (), note: str | None = None
) -> Step:
    """The record of a question that has just been answered."""
    return Step(
        id=state.get("id", ROOT),
        parent=state.get("parent"),
        question=state.get("as_asked", state["question"]),
        resolved=state["question"],
        route=route,
        score=state.get("confidence"),
        estimator=state.get("estimator"),
        passages=list(passages),
        answer=answer,
        notes=noted(state, note),
        details=state.get("details", {}),
    )
