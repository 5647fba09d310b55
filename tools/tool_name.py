"""What a chat model calls a tool by."""

import re
from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.fallbacks import RunnableWithFallbacks

from knowwhen.models.errors import SettingsError

CALLABLE = re.compile(r"[A-Za-z0-9_-]{1,64}")  # by the models of all servers


def own_name(method: Runnable[Any, Any]) -> str:
    """A runnable's own name, or that of the one which it passes questions on to.

    Raises:
        SettingsError: neither has any.
    """
    inner: Any = method
    while not inner.name and isinstance(inner, RunnableBindingBase | RunnableWithFallbacks):
        inner = inner.bound if isinstance(inner, RunnableBindingBase) else inner.runnable
    if not inner.name:
        raise SettingsError(f"a {type(inner).__name__} has no name for a model to call it by; pass name=…")
    return str(inner.name)


def checked_name(name: str) -> str:
    """The name.

    Raises:
        SettingsError: servers would refuse it.
    """
    if not CALLABLE.fullmatch(name):
        raise SettingsError(
            f"a tool's name is up to 64 letters, digits, _ and -, which {name!r} is not; pass another name=…"
        )
    return name
