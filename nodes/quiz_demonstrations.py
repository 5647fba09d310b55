"""Questions with their quizzes, shown before the one asked (KEQA, section 3.3: fixed demonstrations)."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Line = Annotated[str, Field(min_length=1, pattern=r"^[^\n]+$")]


class QuizDemonstration(BaseModel):
    """A question and its quizzes, in which `#1` stands for the answer of the first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Line
    quizzes: tuple[Line, ...] = Field(min_length=1)


# One of each way in which facts come together: after one another, side by side, both, and not at all.
DEFAULT = (
    QuizDemonstration(
        question="In which country was the author of Frankenstein born?",
        quizzes=("Who wrote Frankenstein?", "In which country was #1 born?"),
    ),
    QuizDemonstration(
        question="Which mountain is higher, Mont Blanc or Kilimanjaro?",
        quizzes=("How high is Mont Blanc?", "How high is Kilimanjaro?"),
    ),
    QuizDemonstration(
        question="Were the composers of Carmen and of Tosca born in the same city?",
        quizzes=(
            "Who composed Carmen?",
            "In which city was #1 born?",
            "Who composed Tosca?",
            "In which city was #3 born?",
        ),
    ),
    QuizDemonstration(
        question="Could a person born in the year of the first Moon landing have voted in 1980 in France?",
        quizzes=(
            "In which year was the first Moon landing?",
            "What was the voting age in France in 1980?",
            "How old was a person born in #1 in 1980?",
        ),
    ),
    QuizDemonstration(
        question="Who painted the Girl with a Pearl Earring?",
        quizzes=("Who painted the Girl with a Pearl Earring?",),
    ),
)


def as_text(demonstrations: Sequence[QuizDemonstration]) -> str:
    """The demonstrations as they stand before the question; each ends in an empty line."""
    return "".join(
        f"Question: {shown.question}\n"
        + "\n".join(f"#{number}: {quiz}" for number, quiz in enumerate(shown.quizzes, 1))
        + "\n\n"
        for shown in demonstrations
    )
