"""The records of a file, whatever it is: JSON lines, one JSON document, or a table."""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from knowwhen.evaluation.datasets.form import Record
from knowwhen.evaluation.datasets.skipped import Complain

HEAD = 65_536
"""Bytes at the beginning of a file by which its kind is told."""
FIRST_KEY = re.compile(rb'\{\s*"((?:[^"\\]|\\.)*)"')
DOCUMENT_KEYS = frozenset((b"data", b"Data", b"version", b"Version", b"Domain", b"Split", b"VerifiedEval"))
"""With one of these an object begins that holds a list of records (SQuAD, TriviaQA) and is none itself."""


class Located(NamedTuple):
    """A record and where it stands."""

    where: str
    """To be named in an error: file and line, or file and number."""
    number: int
    """Counted from 1; in lines and tables it is that of the line."""
    record: Record


def records(file: BinaryIO, name: str, complain: Complain) -> Iterator[Located]:
    """The records of a file, one after the other, never all at once.

    Args:
        file: read from its beginning, where it must stand.
        name: the file's, for errors.
        complain: told of what is no record; if it returns, the reading goes on behind it.

    Raises:
        KnowwhenError: the file is damaged so that what follows cannot be read.
    """
    head = file.read(HEAD)
    file.seek(0)
    return _reader(head.removeprefix(b"\xef\xbb\xbf").lstrip())(file, name, complain)


def _reader(head: bytes) -> Callable[[BinaryIO, str, Complain], Iterator[Located]]:
    from knowwhen.evaluation.datasets.document import read_document
    from knowwhen.evaluation.datasets.lines import read_lines
    from knowwhen.evaluation.datasets.table import read_table

    if head.startswith(b"["):
        return read_document
    if not head or head.startswith(b"{"):
        key = FIRST_KEY.match(head)
        alone = head.partition(b"\n")[0].strip() == b"{"
        return read_document if alone or (key and key[1] in DOCUMENT_KEYS) else read_lines
    return read_table
