"""The ids seen so far, kept in a temporary database: memory must not grow with the dataset."""

import sqlite3

from knowwhen.models.errors import KnowwhenError


class Ids:
    """A set of ids; it may be used from several threads, by one at a time."""

    def __init__(self) -> None:
        self._seen = sqlite3.connect("", check_same_thread=False)
        self._seen.executescript(
            "pragma journal_mode=off; create table seen (id text primary key) without rowid"
        )

    def add(self, identity: str) -> bool:
        """Add an id; False: it was there before.

        Raises:
            KnowwhenError: there is no room for it.
        """
        try:
            return bool(self._seen.execute("insert or ignore into seen values (?)", (identity,)).rowcount)
        except sqlite3.OperationalError as error:
            raise KnowwhenError(
                f"the ids could not be kept in the folder for temporary files: {error}"
            ) from None

    def close(self) -> None:
        """Let go of the database."""
        self._seen.close()
