"""Questions with their reasoning, shown before the one asked (SeaKR, appendix C: in-context examples)."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from knowwhen.nodes.think import FINAL_MARK, as_lines

Step = Annotated[str, Field(min_length=1, pattern=r"^[^\n]+$")]


class Demonstration(BaseModel):
    """A question, its steps and its answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1)
    steps: tuple[Step, ...] = Field(min_length=1)  # a sentence each
    answer: str = Field(min_length=1)


DEFAULT = (
    Demonstration(
        question="Which mountain is higher, Mont Blanc or Kilimanjaro?",
        steps=("Mont Blanc is 4,806 metres high.", "Kilimanjaro is 5,895 metres high."),
        answer="Kilimanjaro",
    ),
    Demonstration(
        question="In which country was the author of Frankenstein born?",
        steps=("Frankenstein was written by Mary Shelley.", "Mary Shelley was born in London, England."),
        answer="England",
    ),
    Demonstration(
        question="Do the Rhine and the Danube flow into the same sea?",
        steps=("The Rhine flows into the North Sea.", "The Danube flows into the Black Sea."),
        answer="no",
    ),
    Demonstration(
        question="Who painted the Girl with a Pearl Earring?",
        steps=("The Girl with a Pearl Earring was painted by Johannes Vermeer.",),
        answer="Johannes Vermeer",
    ),
)


def as_text(demonstrations: Sequence[Demonstration]) -> str:
    """The demonstrations as they stand before the question; each ends in an empty line."""
    return "".join(
        f"Question: {shown.question}\nSteps:\n"
        + as_lines([*shown.steps, f"{FINAL_MARK} {shown.answer}."])
        + "\n\n"
        for shown in demonstrations
    )
