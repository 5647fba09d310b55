"""Where each question's record stands in a journal, kept in a temporary database: memory must not grow."""

import sqlite3

from knowwhen.models.errors import KnowwhenError


class Places:
    """Numbers by ids; it may be used from several threads, by one at a time."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._database.executescript(
            "pragma journal_mode=off; create table places (id text primary key, place integer) without rowid"
        )

    def __len__(self) -> int:
        return int(self._database.execute("select count(*) from places").fetchone()[0])

    def __setitem__(self, identity: str, place: int) -> None:
        try:
            self._database.execute("insert or replace into places values (?, ?)", (identity, place))
        except sqlite3.OperationalError as error:
            raise KnowwhenError(f"there is no room in the folder for temporary files: {error}") from None

    def get(self, identity: str) -> int | None:
        """The place of an id; None: it has none."""
        found = self._database.execute("select place from places where id = ?", (identity,)).fetchone()
        return None if found is None else int(found[0])
