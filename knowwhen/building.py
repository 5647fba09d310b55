"""A method from the names that the shell gives."""

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowwhen.graphs import Method


def build_method(name: str, model: str, corpus: str, settings: dict[str, Any]) -> "Method":
    """Build a method by its name; the corpus is left to methods that look nothing up.

    Raises:
        SettingsError: there is no such method or setting.
    """
    from knowwhen.graphs import METHODS
    from knowwhen.models.errors import SettingsError

    if name not in METHODS:
        raise SettingsError(f"there is no method {name!r}; choose from {', '.join(METHODS)}")
    make: Any = METHODS[name]
    looks_up = "retriever" in inspect.signature(make).parameters
    built: Method = make(model, corpus, **settings) if looks_up else make(model, **settings)
    return built
