"""What becomes of a record that is no question: the end of the reading, or a count."""

from collections.abc import Callable

from knowwhen.models.errors import KnowwhenError

Complain = Callable[[str, str], None]
"""Told of every bad record: where it stands, and what is wrong with it."""

SHOWN = 5
"""How many complaints are kept: enough to see what is wrong with a file, few enough to print."""


class Skipped:
    """The records that were left out of a reading, for those who would rather go on without them.

    Attributes:
        count: how many.
        first: the first few complaints, each one line: where the record stands and what is wrong with it.
    """

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, where: str, reason: str) -> None:
        """Count one more."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(f"{where}: {reason}")

    def __str__(self) -> str:
        """One line to show; empty if nothing was left out."""
        return f"bad records left out: {self.count:,}; the first: {self.first[0]}" if self.count else ""


def refuse(where: str, reason: str) -> None:
    """End the reading at a bad record.

    Raises:
        KnowwhenError: always.
    """
    raise KnowwhenError(f"{where}: {reason}; mend the record")
