"""Questions with their reasoning, shown before the one asked (SeaKR, appendix C: in-context examples)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowwhen.models.errors import SettingsError
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


def read_demonstrations(file: str | Path) -> tuple[Demonstration, ...]:
    """Demonstrations from lines of JSON, `{"question": …, "steps": […, …], "answer": …}`; may be none.

    Raises:
        SettingsError: the file cannot be read, or a line is something else; says which line and why.
    """
    try:
        lines = Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"the demonstrations in {file} cannot be read: {reason}") from None
    shown = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            shown.append(Demonstration(**json.loads(line)))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "line"
            raise SettingsError(f"{file}, line {number}: {place}: {first['msg'].lower()}") from None
        except (ValueError, TypeError) as error:
            raise SettingsError(f"{file}, line {number} is no JSON object: {error}") from None
    return tuple(shown)
