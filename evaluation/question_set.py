"""The questions that every method of an evaluation is asked: read anew for each, kept by none."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from knowwhen.evaluation.datasets import GoldQuestion, Skipped, drawn, read_dataset
from knowwhen.models.errors import KnowwhenError, SettingsError


@dataclass(frozen=True)
class QuestionSet:
    """A dataset, or a draw from it, which alone is kept in memory.

    Args:
        dataset: as `read_dataset` takes it.
        limit: how many questions are drawn, at most; None: all, in their order.
        seed: of the draw.
        kind: the form of its records, where it is not to be recognised.
        skip_bad: go on without records that are no question, and count them.

    Raises:
        SettingsError: the limit is below 1.
    """

    dataset: str | Path
    limit: int | None = None
    seed: int = 0
    kind: str | None = None
    skip_bad: bool = False
    skipped: Skipped = field(default_factory=Skipped, init=False, repr=False)
    """Of the counting, which reads the whole dataset once."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise SettingsError("limit must be at least 1 question")

    def __iter__(self) -> Iterator[GoldQuestion]:
        """The questions, in the dataset's order.

        Raises:
            SettingsError: there is no such dataset.
            KnowwhenError: it cannot be read, or a record is no question.
        """
        if self.limit is not None:
            yield from self._drawn
        else:
            yield from self._read(Skipped())

    def __len__(self) -> int:
        """How many there are; counted once, which finds bad records before anything is spent."""
        return self._count

    @cached_property
    def _count(self) -> int:
        count = sum(1 for _ in self._read(self.skipped)) if self.limit is None else len(self._drawn)
        if not count:
            raise KnowwhenError(f"{self.dataset} holds no question; give a dataset that does")
        return count

    @cached_property
    def _drawn(self) -> list[GoldQuestion]:
        return drawn(self._read(self.skipped), self.limit or 0, self.seed)

    def _read(self, skipped: Skipped) -> Iterable[GoldQuestion]:
        return read_dataset(self.dataset, self.kind, skipped if self.skip_bad else None)
