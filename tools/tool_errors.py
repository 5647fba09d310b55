"""What an agent is told of a tool's failure: one line that says what is wrong and what to do."""

from collections.abc import Callable
from typing import Any

from langchain_core.tools import ToolException
from pydantic import BaseModel, ValidationError

from knowwhen.models.faults import shortened
from knowwhen.tools.tool_content import error_content


def told(error: ToolException) -> str:
    """A failure of what the tool does."""
    return error_content(error)


def told_of_arguments(arguments: type[BaseModel]) -> Callable[[Any], str]:
    """How a model is told that it called a tool with other arguments than these.

    LangChain takes every `ValidationError` from within a tool for one of its arguments; others are raised.
    """
    wanted = ", ".join(arguments.model_fields)

    def say(error: Any) -> str:
        if not isinstance(error, ValidationError) or error.title != arguments.__name__:
            raise error
        first = error.errors()[0]
        given = shortened(repr(first["input"]))
        return error_content(
            ToolException(f"{first['msg'].lower()}, not {given}; call again with a text as {wanted}")
        )

    return say
