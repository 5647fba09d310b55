"""A method from its name."""

import inspect
from collections.abc import Mapping
from typing import Any

from knowwhen.graphs import METHODS
from knowwhen.graphs.method import Method
from knowwhen.models.errors import SettingsError
from knowwhen.models.resolve import ModelLike
from knowwhen.tools.resolve import RetrieverLike


def build_method(
    name: str, model: ModelLike, retriever: RetrieverLike, settings: Mapping[str, Any]
) -> Method:
    """Build a method by its name; the retriever is left to methods that look nothing up.

    Raises:
        SettingsError: there is no such method or setting.
    """
    if name not in METHODS:
        raise SettingsError(f"there is no method {name!r}; choose from {', '.join(METHODS)}")
    make: Any = METHODS[name]
    looks_up = "retriever" in inspect.signature(make).parameters
    built: Method = make(model, retriever, **settings) if looks_up else make(model, **settings)
    return built
