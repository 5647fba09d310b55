"""JSON lines: a record on each."""

import json
from collections.abc import Iterator
from typing import BinaryIO

from knowwhen.evaluation.datasets.located import Located
from knowwhen.evaluation.datasets.skipped import Complain


def read_lines(file: BinaryIO, name: str, complain: Complain) -> Iterator[Located]:
    """The record of each line that is not blank."""
    for number, line in enumerate(file, start=1):
        where = f"{name}:{number}"
        try:
            text = line.decode("utf-8-sig")
            if not text.strip():
                continue
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            complain(where, f"this is no JSON in UTF-8 ({error})")
            continue
        if isinstance(record, dict):
            yield Located(where, number, record)
        else:
            complain(where, "this is not a JSON object")
