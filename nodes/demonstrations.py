"""Worked examples that stand before the question asked: a method's own, the user's, or a file of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ValidationError

from knowwhen.models.errors import SettingsError
from knowwhen.models.pocket import is_pocket

D = TypeVar("D", bound=BaseModel)


def demonstrations_for(
    model: BaseChatModel, default: Sequence[D], given: str | Path | Sequence[D] | None
) -> Sequence[D]:
    """The demonstrations that a model is shown: those given, read if they are a file's, or the default ones.

    The pocket model goes without the default ones: it has learnt the form.

    Raises:
        SettingsError: the file cannot be read, or a line is something else; says which line and why.
    """
    if given is None:
        return () if is_pocket(model) else default
    return read_demonstrations(given, type(default[0])) if isinstance(given, str | Path) else given


def read_demonstrations(file: str | Path, kind: type[D]) -> tuple[D, ...]:
    """Demonstrations of one kind from lines of JSON, an object with the kind's fields each; may be none.

    Raises:
        SettingsError: the file cannot be read, or a line is something else; says which line and why.
    """
    try:
        lines = Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"the demonstrations in {file} cannot be read: {reason}") from None
    shown = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            shown.append(kind(**json.loads(line)))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "line"
            raise SettingsError(f"{file}, line {number}: {place}: {first['msg'].lower()}") from None
        except (ValueError, TypeError) as error:
            raise SettingsError(f"{file}, line {number} is no JSON object: {error}") from None
    return tuple(shown)
