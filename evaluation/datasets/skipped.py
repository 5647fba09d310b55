"""What becomes of a record that is no question: the end of the reading, or a count."""

from knowwhen.models.errors import KnowwhenError

SHOWN = 5
"""How many reasons are kept: enough to see what is wrong with a file, few enough to print."""


class Skipped:
    """The records that were left out of a reading, for those who would rather go on without them.

    Attributes:
        count: how many.
        first: the first few complaints, each one line: where the record stands and what is wrong with it.
    """

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, complaint: str) -> None:
        """Count one more."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(complaint)

    def __str__(self) -> str:
        """One line to show; empty if nothing was left out."""
        return f"{self.count:,} records are left out, the first: {self.first[0]}" if self.count else ""


def report(skipped: Skipped | None, where: str, reason: str) -> None:
    """Note a bad record.

    Raises:
        KnowwhenError: bad records are not to be skipped.
    """
    if skipped is None:
        raise KnowwhenError(f"{where}: {reason}; mend the record")
    skipped.add(f"{where}: {reason}")
