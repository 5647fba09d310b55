"""How sub-questions that refer to each other are answered: every branch on its own, a branch round by round.

A branch holds the sub-questions that wait for each other, directly or through others. Branches run side by
side, so none waits for a slow answer of another; within one, all that are ready are asked at once.
"""

from collections.abc import Callable
from typing import Any, Literal

from langchain_core.runnables import Runnable
from langgraph.types import Send

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.references import branches, filled_in, references_in, rounds
from knowwhen.nodes.state import ROOT, Answer
from knowwhen.nodes.sub_questions import (
    AskedSubQuestion,
    BranchState,
    DividedState,
    SubQuestion,
    answers_of,
    by_number,
    own_question,
)


def each_branch(state: DividedState) -> list[Send]:
    """The branches of a question's sub-questions, all at once."""
    asked = {each["number"]: each for each in state["sub_questions"]}
    return [
        Send("answer_branch", _branch(state, [asked[number] for number in numbers]))
        for numbers in branches(by_number(state["sub_questions"]))
    ]


def _branch(state: DividedState, sub_questions: list[SubQuestion]) -> BranchState:
    return BranchState(
        question=state["question"],
        id=state.get("id", ROOT),
        parent=state.get("parent"),
        notes=state.get("notes", []),
        whole=state.get("whole", False),
        sub_questions=sub_questions,
        rounds=rounds(by_number(sub_questions)),
    )


def each_ready(state: BranchState) -> list[Send] | Literal["all answered"]:
    """The sub-questions of the next round, all at once, with the answers they refer to filled in."""
    if not state["rounds"]:
        return "all answered"
    asked = {each["number"]: each for each in state["sub_questions"]}
    answers = answers_of(state)
    return [Send("answer_question", _asked(state, asked[number], answers)) for number in state["rounds"][0]]


def _asked(state: BranchState, sub_question: SubQuestion, answers: dict[int, str]) -> AskedSubQuestion:
    written = sub_question["question"]
    place = AskedSubQuestion(
        question=written,
        id=sub_question["id"],
        parent=sub_question["parent"],
        depth=sub_question["id"].count("."),
        unresolved=[],
    )
    if own_question(state):  # whose "#1" is no reference
        return place | AskedSubQuestion(question=written, notes=state["notes"], whole=state["whole"])
    place["unresolved"] = [each for each in references_in(written) if each not in answers]
    return place | AskedSubQuestion(question=filled_in(written, answers), as_asked=written)


def next_round(door: Door, ends: Callable[[Answer], bool] = lambda output: False) -> Node:
    """The node that closes a round.

    Args:
        door: to the model.
        ends: whether an answer ends the branch, so that nothing more of it is asked.
    """

    def next_round(state: BranchState) -> Update:
        asked, *left = state["rounds"]
        ids = [each["id"] for each in state["sub_questions"] if each["number"] in asked]
        ended = any(ends(state["part_outputs"][id]) for id in ids)
        return {"rounds": [] if ended else left}

    return as_node(door, next_round)


def answer_branch(branch: Runnable[Any, Any]) -> Node:
    """The node that answers one branch with a graph of its own, whose answers join those of the others."""

    def answer_branch(state: BranchState) -> Update:
        return {"part_outputs": branch.invoke(state)["part_outputs"]}

    async def aanswer_branch(state: BranchState) -> Update:
        return {"part_outputs": (await branch.ainvoke(state))["part_outputs"]}

    return Node(answer_branch, aanswer_branch, "answer_branch")
