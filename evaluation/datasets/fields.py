"""The fields of a record, each refused with a reason where it is not what it should be."""

from collections.abc import Iterable
from typing import Any

from knowwhen.evaluation.datasets.form import BadRecord, Record


def is_text(value: object) -> bool:
    """Whether this is a text that says something."""
    # Half a surrogate pair, which JSON can hold, is no text: it cannot be asked or stored.
    if not isinstance(value, str) or not value.strip():
        return False
    return value.encode("utf-8", "replace").decode() == value


def first(record: Record, *names: str) -> Any:
    """The first of these fields that there is; None if there is none."""
    return next((record[name] for name in names if record.get(name) is not None), None)


def text(record: Record, *names: str) -> str:
    """The text in the first of these fields that there is.

    Raises:
        BadRecord: it is none.
    """
    value = first(record, *names)
    if not is_text(value):
        raise BadRecord(f"it has no {names[0].lower()}")
    return str(value)


def identity(record: Record, *names: str) -> str:
    """The id in the first of these fields that there is.

    Raises:
        BadRecord: it is neither text nor a number.
    """
    value = first(record, *names)
    if isinstance(value, bool) or not (isinstance(value, int) or is_text(value)):
        raise BadRecord("its id is neither text nor a number")
    return str(value)


def texts(record: Record, *names: str) -> tuple[str, ...]:
    """The list of texts in the first of these fields that there is, each once.

    Raises:
        BadRecord: it is no such list, or empty.
    """
    value = first(record, *names)
    if not isinstance(value, list | tuple) or not value or not all(map(is_text, value)):
        raise BadRecord(f"its {names[0]} is not a list of one text or more")
    return different(value)


def different(values: Iterable[str]) -> tuple[str, ...]:
    """Each text once, in their order."""
    return tuple(dict.fromkeys(values))


def listed(record: Record, *names: str) -> list[Any]:
    """The list in the first of these fields that there is; empty if there is none.

    Raises:
        BadRecord: something else stands there.
    """
    value = first(record, *names)
    if not isinstance(value, list | tuple | None):
        raise BadRecord(f"its {names[0]} is not a list")
    return list(value or ())


def objects(record: Record, name: str) -> list[Record]:
    """The list of objects in a field; empty if there is none.

    Raises:
        BadRecord: something else stands there.
    """
    values = listed(record, name)
    if not all(isinstance(each, dict) for each in values):
        raise BadRecord(f"its {name} is not a list of objects")
    return values
