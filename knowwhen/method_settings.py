"""Which settings a method has, and which of those given on the command line go to which method."""

import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowwhen.nodes.settings import Settings

LOOKS_UP = "retriever"


def settings_of(method: str) -> "type[Settings]":
    """The settings of a method, with their defaults, bounds and descriptions.

    Raises:
        SettingsError: there is no such method.
    """
    from knowwhen.graphs import METHODS
    from knowwhen.models.errors import SettingsError
    from knowwhen.nodes.settings import Settings

    if method not in METHODS:
        raise SettingsError(f"there is no method {method!r}; choose from {', '.join(METHODS)}")
    home = METHODS[method].__module__
    own = (value for value in vars(sys.modules[home]).values() if isinstance(value, type))
    return next(value for value in own if issubclass(value, Settings) and value.__module__ == home)


def known_to(method: str) -> frozenset[str]:
    """What a method can be told by name: its settings and its other keywords.

    Raises:
        SettingsError: there is no such method.
    """
    from knowwhen.graphs import METHODS

    own = settings_of(method).model_fields
    return frozenset({*own, *inspect.signature(METHODS[method]).parameters} - {"settings"})


def shared_out(
    pairs: Iterable[str], methods: Mapping[str, str], optional: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """The settings of each method: `name=value` is meant for all that have it, `label.name=value` for one.

    Args:
        pairs: as they stand behind `--set`.
        methods: by their labels.
        optional: labels of methods for which alone nothing is set.

    Raises:
        SettingsError: a pair is none, no method has the setting, or there is no such method.
    """
    from knowwhen.models.errors import SettingsError
    from knowwhen.settings_text import read_settings

    given: dict[str, dict[str, Any]] = {label: {} for label in methods}
    for name, value in read_settings(pairs).items():
        label, dot, own = name.rpartition(".")
        if dot and label not in methods:
            raise SettingsError(
                f"--set {name} is for {label!r}, which is not run; there is {', '.join(methods)}"
            )
        takers = [label] if dot else [each for each in methods if own in known_to(methods[each])]
        if not set(takers) - set(optional):
            takers = [each for each in methods if each not in optional]  # which say what they have instead
        for taker in takers:
            given[taker][own] = value
    return given
