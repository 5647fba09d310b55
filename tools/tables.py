"""Passages from tables: a line of JSONL, a row of TSV, CSV or Parquet is one entry.

Columns: `text`, or `contents` whose first line is the title (FlashRAG); and, where there are such, `id` (or
`_id`), `title`, and `url` or `source`. Others are left alone. An entry without an id gets `file:line`.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from knowwhen.models.errors import RetrievalError
from knowwhen.tools.entry import BadEntries, Entry

FIELD_LIMIT = 2**20
"""Characters in one cell; more than that is a quotation mark that nobody closed."""
ROWS = 1024
"""Rows of a Parquet file in memory at once."""


def read_jsonl(file: BinaryIO, name: str, bad: BadEntries) -> Iterator[Entry]:
    """Read one entry from each line that is not blank."""
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            bad.report(f"{name}:{number}", f"this is no JSON in UTF-8 ({error})")
            continue
        if isinstance(record, dict):
            yield from _entry(record, name, number, bad)
        else:
            bad.report(f"{name}:{number}", "this is not a JSON object")


def read_delimited(delimiter: str) -> Callable[[BinaryIO, str, BadEntries], Iterator[Entry]]:
    """Make the reader of tables whose first line names the columns, as in the DPR passage dump."""

    def read(file: BinaryIO, name: str, bad: BadEntries) -> Iterator[Entry]:
        csv.field_size_limit(FIELD_LIMIT)
        lines = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        rows = csv.reader(lines, delimiter=delimiter)
        columns = next(rows, [])
        if not {"text", "contents"} & set(columns):
            raise RetrievalError(
                f"{name}:1: the first line names no column text or contents, but {', '.join(columns)[:200]!r}"
            )
        yield from _rows(rows, columns, name, bad)

    return read


def read_parquet(file: BinaryIO, name: str, bad: BadEntries) -> Iterator[Entry]:
    """Read one entry from each row."""
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(file, pre_buffer=False)  # which would hold the whole file
        columns = table.schema_arrow.names
        if not {"text", "contents"} & set(columns):
            raise RetrievalError(f"{name} has no column text or contents, but {', '.join(columns)[:200]!r}")
        number = 0
        for batch in table.iter_batches(batch_size=ROWS):
            for record in batch.to_pylist():
                number += 1
                yield from _entry(record, name, number, bad)
    except pyarrow.ArrowException as error:
        raise RetrievalError(f"{name} cannot be read as Parquet: {str(error).splitlines()[0]}") from None


def _rows(rows: Any, columns: list[str], name: str, bad: BadEntries) -> Iterator[Entry]:
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            bad.report(f"{name}:{rows.line_num}", f"this is no row ({error})")
            continue
        if row is None:
            return
        if not row:
            continue
        if len(row) != len(columns):
            bad.report(f"{name}:{rows.line_num}", f"this row has {len(row)} cells for {len(columns)} columns")
            continue
        yield from _entry(dict(zip(columns, row, strict=True)), name, rows.line_num, bad)


def _entry(record: Mapping[str, Any], name: str, number: int, bad: BadEntries) -> Iterator[Entry]:
    """The entry of a record: one, or none if it is bad."""
    title, text = _first(record, "title"), _first(record, "text")
    if text is None:
        title, text = _split_contents(title, _first(record, "contents"))
    identity = _first(record, "id", "_id")
    source = _first(record, "url", "source")
    fields = {"title": title, "text": text, "id": identity, "url or source": source}
    wrong = [key for key, value in fields.items() if not isinstance(value, str | int | None)]
    if wrong:
        bad.report(f"{name}:{number}", f"its {wrong[0]} is neither text nor a number")
    elif text is None or not str(text).strip():
        bad.report(f"{name}:{number}", "it has no text (column text or contents)")
    elif not all(_is_unicode(str(value)) for value in fields.values()):
        bad.report(f"{name}:{number}", "this is not UTF-8")
    else:
        identity = f"{Path(name).name}:{number}" if identity in (None, "") else str(identity)
        yield Entry(identity, str(title or ""), str(text), str(source or name), name, number)


def _first(record: Mapping[str, Any], *columns: str) -> Any:
    return next((record[column] for column in columns if record.get(column) is not None), None)


def _split_contents(title: Any, contents: Any) -> tuple[Any, Any]:
    """Take FlashRAG's `contents` apart: the title, in quotation marks or not, is its first line."""
    if not isinstance(contents, str) or "\n" not in contents:
        return title, contents
    first, rest = contents.split("\n", 1)
    if title is None or first.strip('" ') == title:
        return first.strip('" '), rest
    return title, contents


def _is_unicode(text: str) -> bool:
    # Half a surrogate pair, from `\ud800` in JSON or from bytes that are no UTF-8, cannot be stored.
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
