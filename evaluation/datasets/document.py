"""One JSON document: a list of records, or an object with such a list, read record by record.

HotpotQA's training questions are one line of 566 MB, so a list is never in memory as a whole.
"""

import io
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from knowwhen.evaluation.datasets.located import Located
from knowwhen.evaluation.datasets.skipped import Complain
from knowwhen.models.errors import KnowwhenError

LISTS = ("data", "Data")
"""Where SQuAD and TriviaQA keep their records."""
PIECE = 2**20
"""Characters read at once; more only while one record is longer."""
LONGEST = 2**26
"""Characters of a record that is no JSON so far: more of a damaged file is not read in search of its end."""
NUMBER_END = 3
"""Characters behind which a number that is cut off may be taken for a whole one: `1` of `1e+5`."""
NO_SPACE = re.compile(r"[^ \t\n\r]")


def read_document(file: BinaryIO, name: str, complain: Complain) -> Iterator[Located]:
    """The records of the document's list; the document itself if it has none.

    Raises:
        KnowwhenError: it is no JSON; what follows the damage cannot be told apart.
    """
    number = 0
    try:
        for number, record in enumerate(_records(_Values(file)), start=1):
            where = f"{name}, record {number}"
            if isinstance(record, dict):
                yield Located(where, number, record)
            else:
                complain(where, "this is not a JSON object")
    except (ValueError, RecursionError) as error:
        raise _damaged(f"{name} is no JSON in UTF-8 from record {number + 1} on", error) from None


def read_members(file: BinaryIO, name: str) -> Iterator[tuple[str, Any]]:
    """The names and values of a document that is one object, one after the other, never all at once.

    Raises:
        KnowwhenError: it is no JSON object; what follows the damage cannot be told apart.
    """
    number = 0
    values = _Values(file)
    try:
        members = ((key, values.value()) for key in _keys(values))
        for number, member in enumerate(members, start=1):  # noqa: B007  # told of the damage
            yield member
    except (ValueError, RecursionError) as error:
        raise _damaged(f"{name} is no JSON object in UTF-8 from member {number + 1} on", error) from None


def _damaged(what: str, error: Exception) -> KnowwhenError:
    reason = getattr(error, "msg", None) or getattr(error, "reason", None) or error
    return KnowwhenError(f"{what} ({reason}); mend it or fetch it again")


class _Values:
    """The JSON values of a text, of which a piece is in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8-sig")
        self._decoder = json.JSONDecoder()
        self._piece = ""
        self._at = 0

    def next_character(self) -> str:
        """What stands behind white space; empty at the end."""
        while True:
            found = NO_SPACE.search(self._piece, self._at)
            self._at = found.start() if found else len(self._piece)
            if found or not self._more():
                return found[0] if found else ""

    def take(self, characters: str) -> str:
        """Go past one of these characters and say which.

        Raises:
            ValueError: another stands there.
        """
        found = self.next_character()
        if not found or found not in characters:
            raise ValueError(
                f"{found!r} stands where {' or '.join(characters)} should" if found else "it ends"
            )
        self._at += 1
        return found

    def value(self) -> Any:
        """Read one whole value.

        Raises:
            ValueError: it is no JSON.
        """
        self.next_character()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._piece, self._at)
            except json.JSONDecodeError:
                if len(self._piece) - self._at > LONGEST or not self._more():
                    raise
                continue
            length = end - self._at
            if end + NUMBER_END <= len(self._piece) or not self._more():
                self._at += length
                return value

    def _more(self) -> bool:
        # Twice as much each time, so that a long record is not tried again and again.
        piece = self._text.read(max(PIECE, len(self._piece) - self._at))
        self._piece = self._piece[self._at :] + piece
        self._at = 0
        return bool(piece)


def _records(values: _Values) -> Iterator[Any]:
    if values.next_character() == "[":
        yield from _elements(values)
    elif values.next_character():
        yield from _of_object(values)
    if values.next_character():
        raise ValueError("more stands behind its end")


def _elements(values: _Values) -> Iterator[Any]:
    values.take("[")
    if values.next_character() == "]":
        values.take("]")
        return
    while True:
        yield values.value()
        if values.take(",]") == "]":
            return


def _of_object(values: _Values) -> Iterator[Any]:
    """The records in an object's list, or the object."""
    rest: dict[str, Any] = {}
    streamed = False
    for key in _keys(values):
        if key in LISTS and values.next_character() == "[":
            streamed = True
            yield from _elements(values)
        else:
            rest[key] = values.value()
    if not streamed:
        yield rest


def _keys(values: _Values) -> Iterator[str]:
    """The keys of an object; each one's value is to be read before the next."""
    values.take("{")
    while values.next_character() != "}":
        key = values.value()
        values.take(":")
        yield key
        if values.next_character() != "}":
            values.take(",")
    values.take("}")
