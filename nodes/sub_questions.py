"""The sub-questions of a question that may refer to each other's answers, and one of them on its way."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from knowwhen.nodes.references import as_phrase
from knowwhen.nodes.state import ROOT, Asked, State
from knowwhen.uncertainty.unknown import means_unknown


class SubQuestion(TypedDict):
    """A simple question, about one fact."""

    number: int  # what others call it by: `#number`
    question: str  # as written, with references to others' answers
    id: str  # its place in the tree
    parent: str | None


class DividedState(State, total=False):
    """A question and its sub-questions."""

    sub_questions: list[SubQuestion]
    whole: bool  # it could not be divided, and is to be looked up as it is


class BranchState(DividedState, total=False):
    """Sub-questions that wait for each other, but for no other ones."""

    rounds: list[list[int]]  # the numbers of those still to be asked, together those that are ready


class AskedSubQuestion(Asked, total=False):
    """A sub-question with the answers it refers to filled in."""

    unresolved: list[int]  # references that could not be
    whole: bool
    notes: list[str]  # on the question, if it is its own only sub-question


def own_question(state: DividedState) -> bool:
    """Whether the question was not divided: it is its own only sub-question."""
    return [each["id"] for each in state["sub_questions"]] == [state.get("id", ROOT)]


def undivided(state: State) -> list[SubQuestion]:
    """The question as its own only sub-question."""
    return [
        SubQuestion(
            number=1, question=state["question"], id=state.get("id", ROOT), parent=state.get("parent")
        )
    ]


def answers_of(state: DividedState) -> dict[int, str]:
    """The answers at hand that can be filled into other questions, by number: not those that say nothing."""
    outputs = state.get("part_outputs", {})
    answers = {
        each["number"]: outputs[each["id"]]["answer"]
        for each in state["sub_questions"]
        if each["id"] in outputs
    }
    return {
        number: answer
        for number, answer in answers.items()
        if as_phrase(answer) and not means_unknown(answer)
    }


def by_number(sub_questions: Sequence[SubQuestion]) -> dict[int, str]:
    """The sub-questions as written, by their numbers."""
    return {each["number"]: each["question"] for each in sub_questions}
