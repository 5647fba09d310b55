"""A method's settings as a table, from its pydantic model."""

import sys
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from knowwhen.graphs import METHODS
from knowwhen.nodes.settings import Settings

_WORDS = {float: "number", int: "whole number", str: "text", bool: "`true`, `false`", NoneType: "none"}
_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def settings_table(method: str) -> str:
    """The settings that a method has; those that all methods share stand last."""
    fields = settings_of(method).model_fields
    shared = [name for name in fields if name in Settings.model_fields]
    rows = ["| setting | default | values | |", "| --- | --- | --- | --- |"]
    for name in [*(name for name in fields if name not in shared), *shared]:
        field = fields[name]
        default = "none" if field.default is None else f"`{_written(field.default)}`"
        rows.append(f"| `{name}` | {default} | {_values(field)} | {_cell(field.description or '')} |")
    return "\n".join(rows)


def settings_of(method: str) -> type[Settings]:
    """The settings class of a method, which stands in its file."""
    module: Any = sys.modules[METHODS[method].__module__]
    (own,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Settings) and value.__module__ == module.__name__
    )
    return own


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(field: FieldInfo) -> str:
    bounds = [
        f"{sign} {getattr(each, name):g}"
        for each in field.metadata
        for name, sign in _SIGNS.items()
        if getattr(each, name, None) is not None
    ]
    return " ".join([_kind(field.annotation), ", ".join(bounds)]).strip()


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(_kind(each) for each in get_args(annotation))
    return _WORDS[annotation]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
