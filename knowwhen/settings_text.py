"""`--set name=value`: settings from the shell."""

import json
from collections.abc import Iterable
from typing import Any


def read_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Settings by name; a value is read as JSON where it is JSON (numbers, true), else as text.

    Raises:
        SettingsError: a pair without `=`.
    """
    from knowwhen.models.errors import SettingsError

    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or name.strip().endswith("."):
            raise SettingsError(f"--set takes name=value, not {pair!r}")
        try:
            settings[name.strip()] = json.loads(value)
        except ValueError:
            settings[name.strip()] = value
    return settings
