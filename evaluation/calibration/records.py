"""Records: what a model answered from memory and from passages, and how sure it was, question by question.

Of them a gate can be replayed at any threshold without asking the model again. They are JSON lines, one
question a line; `docs/calibrate.md` shows one.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, FiniteFloat, ValidationError, model_validator

from knowwhen.models.errors import KnowwhenError
from knowwhen.models.faults import shortened


class Attempt(BaseModel, frozen=True, extra="forbid"):
    """An answer that was given in one way."""

    answer: str
    scores: dict[str, FiniteFloat | None] = {}
    """By the estimators' names; None: no score could be made, which counts as unsure."""
    tokens: int = Field(default=0, ge=0)
    """Read and written for it."""


class Combined(Attempt, frozen=True, extra="forbid"):
    """An answer that was made of the sub-questions' answers."""

    of: tuple[str, ...] | None = None
    """The sub-questions' answers that it was made of; None: it stands for any."""


class Samples(BaseModel, frozen=True, extra="forbid"):
    """Answers to one prompt, put together by what they mean (KEQA, Algorithm 1)."""

    answers: tuple[str, ...] = Field(min_length=1)
    clusters: tuple[int | None, ...]
    """The cluster of each, by number in the order they began; None: the answer says nothing."""
    tokens: int = Field(default=0, ge=0)
    """Read and written for all of them."""

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        if len(self.answers) != len(self.clusters):
            raise ValueError(f"{len(self.answers)} answers lie in {len(self.clusters)} clusters")
        return self


class Asked(BaseModel, frozen=True, extra="forbid"):
    """A question or sub-question, and all that was found out about it."""

    question: str
    closed_book: Attempt
    """From memory."""
    open_book: tuple[Attempt, ...] = Field(min_length=1)
    """From passages: one answer from all of them, or one from each, of which the surest is taken."""
    retrievals: float = Field(default=1, ge=0)
    """What the open-book answers cost."""
    gate_tokens: int = Field(default=0, ge=0)
    """Read and written for the score alone, however the question is then answered."""
    split_tokens: int = Field(default=0, ge=0)
    """Read and written to find the parts."""
    samples: Samples | None = None
    parts: tuple["Asked", ...] = ()
    """Its sub-questions; none: it cannot be divided."""
    combined: tuple[Combined, ...] = ()
    """Its answers from those of the parts."""

    @model_validator(mode="after")
    def _divided(self) -> Self:
        if bool(self.parts) != bool(self.combined):
            raise ValueError("parts and combined go together, and one of them is missing")
        if any(each.of is not None and len(each.of) != len(self.parts) for each in self.combined):
            raise ValueError(f"a combined answer is not of {len(self.parts)} parts")
        return self


class Record(Asked, frozen=True, extra="forbid"):
    """A question of a dataset: a line of a file of records."""

    id: str
    golden_answers: tuple[str, ...] = Field(min_length=1)
    metadata: dict[str, Any] = {}
    """What the dataset says of the question."""


def read_records(file: str | Path) -> Iterator[Record]:
    """The records of a file, one after the other, never all at once.

    Raises:
        KnowwhenError: the file cannot be read or holds none, a line is no record, or an id comes twice; says
            which and why.
    """
    seen: dict[str, int] = {}
    try:
        with Path(file).open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                record = _record(line, f"{file}:{number}")
                if record.id in seen:
                    raise KnowwhenError(
                        f"{file}:{number}: the id {record.id!r} is line {seen[record.id]}'s already"
                    )
                seen[record.id] = number
                yield record
    except OSError as error:
        raise KnowwhenError(f"{file} cannot be read: {error.strerror or error}") from None
    if not seen:
        raise KnowwhenError(f"{file} holds no record; docs/calibrate.md shows one")


def _record(line: bytes, where: str) -> Record:
    try:
        return Record.model_validate_json(line.removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        told = first["msg"].removeprefix("Value error, ")
        said = f"{place}: {told}" if place else told
        raise KnowwhenError(f"{where}: this is no record: {shortened(said)}; mend the line") from None


def write_records(records: Iterable[Record], file: str | Path) -> int:
    """Write records to a file, and say how many; what is the default is left out.

    Raises:
        KnowwhenError: the file cannot be written.
    """
    number = 0
    try:
        with Path(file).open("w", encoding="utf-8") as out:
            for record in records:
                out.write(record.model_dump_json(exclude_defaults=True) + "\n")
                number += 1
    except OSError as error:
        raise KnowwhenError(f"{file} could not be written: {error.strerror or error}") from None
    return number
