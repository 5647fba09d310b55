"""The fields of a class in the reference: what a Field, or a comment on its line, says of each.

The reader of sources shows what has a docstring, and of a TypedDict, a settings class or a plain dataclass it
would show no field at all. Those that have none are told in the class's own docstring, as `Attributes:`.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from griffe import Attribute, Class, Docstring, ExprCall, ExprKeyword, ExprSubscript, ExprTuple, Extension

UNTOLD = "\N{ZERO WIDTH SPACE}"  # the name says it; nothing at all would be no field to the reader
_COMMENT = re.compile(r"  # (?!type:|noqa)(.+)$")
_TOLD = re.compile(r"^\s*(Args|Attributes):", re.MULTILINE)


class Fields(Extension):
    """Tells the fields that would not be shown."""

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Add them to the class's docstring."""
        said = cls.docstring.value if cls.docstring else ""
        if _TOLD.search(said):
            return
        told = [f"    {each.name}: {meaning}" for each in _fields(cls) if (meaning := _meaning(each))]
        if told:
            value = "\n".join([said.rstrip(), "", "Attributes:", *told])
            lines = (cls.docstring.lineno, cls.docstring.endlineno) if cls.docstring else (None, None)
            cls.docstring = Docstring(value, lineno=lines[0], endlineno=lines[1], parent=cls)


def _fields(cls: Class) -> Iterator[Attribute]:
    """The public ones without a docstring of their own."""
    of_values = any(str(base).endswith("Enum") for base in cls.bases)
    for each in cls.members.values():
        if not isinstance(each, Attribute) or each.name.startswith("_") or each.docstring is not None:
            continue
        if each.annotation is not None or of_values:
            yield each


def _meaning(field: Attribute) -> str:
    """What is said of a field; its type is shown without what says it."""
    annotation = field.annotation
    if isinstance(annotation, ExprSubscript) and str(annotation.left).endswith("Annotated"):
        inner = annotation.slice
        if isinstance(inner, ExprTuple):
            field.annotation = inner.elements[0]
            described = [text for each in inner.elements[1:] if (text := _description(each))]
            if described:
                return described[0]
    if text := _description(field.value):
        return text
    comment = _COMMENT.search(field.lines[-1]) if field.lines else None
    if comment:
        return comment[1]
    return f"`{field.value}`" if annotation is None else UNTOLD


def _description(value: Any) -> str:
    """The description in a call of `Field`."""
    if isinstance(value, ExprCall) and str(value.function).endswith("Field"):
        for each in value.arguments:
            if isinstance(each, ExprKeyword) and each.name == "description":
                return str(ast.literal_eval(str(each.value)))
    return ""
