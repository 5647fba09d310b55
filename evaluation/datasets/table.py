"""Tables: CSV, or TSV if there are tabs in the line that names the columns.

Lines before that one, such as FreshQA's warnings, are passed over.
"""

import csv
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from knowwhen.evaluation.datasets.located import HEAD, Located
from knowwhen.evaluation.datasets.skipped import Complain
from knowwhen.models.errors import KnowwhenError

QUESTION = "question"
"""The column by which the line that names them is known."""
LINE_END = re.compile("\r\n|\r|\n")
FIELD_LIMIT = 2**20
"""Characters in one cell; more than that is a quotation mark that nobody closed."""


def read_table(file: BinaryIO, name: str, complain: Complain) -> Iterator[Located]:
    """The record of each row below the line that names the columns.

    Raises:
        KnowwhenError: no line near the beginning names a column `question`.
    """
    before, delimiter = _header(file, name)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    for _ in range(before):
        text.readline()
    csv.field_size_limit(FIELD_LIMIT)
    rows = csv.reader(text, delimiter=delimiter)
    columns = [column.strip() for column in next(rows)]
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            complain(f"{name}:{before + rows.line_num}", f"this is no row ({error})")
            continue
        if row is None:
            return
        where = f"{name}:{before + rows.line_num}"
        if not any(row):
            continue
        if len(row) != len(columns):
            complain(where, f"this row has {len(row)} cells for {len(columns)} columns")
        elif not _is_unicode(row):
            complain(where, "this is not UTF-8")
        else:
            yield Located(where, before + rows.line_num, dict(zip(columns, row, strict=True)))


def _header(file: BinaryIO, name: str) -> tuple[int, str]:
    """How many lines stand before the one that names the columns, and what stands between those."""
    head = file.read(HEAD).decode("utf-8-sig", errors="replace")
    file.seek(0)
    for number, line in enumerate(LINE_END.split(head)):
        for delimiter in ("\t", ","):
            if QUESTION in next(csv.reader([line], delimiter=delimiter), []):
                return number, delimiter
    raise KnowwhenError(
        f"{name} is neither JSON nor a table with a column {QUESTION!r}; give one of the forms in "
        "docs/datasets.md"
    )


def _is_unicode(row: list[str]) -> bool:
    return all(cell.encode("utf-8", "replace").decode() == cell for cell in row)
