"""An entry of a corpus: a passage before it is indexed, and where it was read."""

from typing import NamedTuple

from knowwhen.models.errors import RetrievalError


class Entry(NamedTuple):
    """One passage of a corpus."""

    id: str
    title: str
    text: str
    source: str
    """Where a reader would find it: a web address if the corpus names one, else the file."""
    file: str = ""
    line: int = 0
    """Where it stands in the file, counted from 1 (in a Parquet file, the row)."""
    repeats: bool = False
    """Whether it may stand in several places under one id; it is stored once, and that is no fault."""

    @property
    def where(self) -> str:
        """The place to name in an error: file and line."""
        return f"{self.file}:{self.line}" if self.file else f"passage {self.id}"


class BadEntries:
    """What becomes of an entry that cannot be indexed: the end of the build, or a count.

    Args:
        skip: Go on without it and count it.
    """

    def __init__(self, skip: bool = False) -> None:
        self.skip = skip
        self.count = 0
        self.first = ""
        """The first complaint, in one line."""

    def report(self, where: str, reason: str) -> None:
        """Note a bad entry.

        Raises:
            RetrievalError: If bad entries are not to be skipped.
        """
        complaint = f"{where}: {reason}"
        if not self.skip:
            raise RetrievalError(f"{complaint}; mend it, or leave such entries out with --skip-bad")
        self.count += 1
        self.first = self.first or complaint
