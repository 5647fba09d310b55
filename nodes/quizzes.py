"""What flows through KEQA: the quizzes of a question, and one quiz on its way to an answer."""

from pydantic import Field
from typing_extensions import TypedDict

from knowwhen.nodes.references import as_phrase
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import ROOT, Asked, State
from knowwhen.uncertainty.unknown import means_unknown


class QuizSettings(Settings):
    """Whether a question is divided."""

    quizzes: bool = Field(
        default=True, description="Divide the question into quizzes; false: the question is its own quiz"
    )


class Quiz(TypedDict):
    """A simple question, about one fact."""

    number: int  # what other quizzes call it by: `#number`
    quiz: str  # as written, with references to others' answers
    answer: str | None  # None: not answered yet


class QuizzesState(State, total=False):
    """A question and its quizzes."""

    quizzes: list[Quiz]
    rounds: list[list[int]]  # the numbers of the quizzes still to be asked, together those that are ready


class AskedQuiz(Asked, total=False):
    """A quiz with the answers it refers to filled in."""

    unresolved: list[int]  # references that could not be
    notes: list[str]  # on the question, if it is its own quiz


class QuizState(AskedQuiz, State, total=False):
    """One quiz on its way to an answer."""

    consistent: str | None  # A_c, the answer of the largest cluster; None: there is no cluster
    extract: bool  # whether the passages kept are to be shortened


def quiz_id(state: QuizzesState, number: int) -> str:
    """A quiz's place in the tree; that of the question itself if it is its own quiz."""
    root = state.get("id", ROOT)
    return root if own_quiz(state) else f"{root}.{number}"


def own_quiz(state: QuizzesState) -> bool:
    """Whether the question is its own only quiz."""
    return [quiz["quiz"] for quiz in state["quizzes"]] == [state["question"]]


def answers_of(state: QuizzesState) -> dict[int, str]:
    """The answers at hand that can be filled into other quizzes: not those that say nothing."""
    answers = {quiz["number"]: quiz["answer"] or "" for quiz in state["quizzes"]}
    return {
        number: answer
        for number, answer in answers.items()
        if as_phrase(answer) and not means_unknown(answer)
    }
