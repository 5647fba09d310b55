"""The reference of the command line, from the commands themselves."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typer.main import get_command

from knowwhen.cli import app

_PLACE = {str: "TEXT", int: "N", float: "NUMBER", Path: "PATH"}


def command_line() -> str:
    """Every command with its arguments and options."""
    return "\n\n".join(_described(name, command) for name, command in commands(get_command(app), "knowwhen"))


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The commands by their full names; a group only if it does something by itself."""
    below = getattr(command, "commands", {})
    if not below or (command.invoke_without_command and command.params):
        yield name, command
    for word, each in below.items():
        yield from commands(each, f"{name} {word}")


def _described(name: str, command: Any) -> str:
    kinds = get_type_hints(command.callback)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    words = [_word(each) if each.required else f"[{_word(each)}]" for each in arguments]
    usage = " ".join([name, *words, *(["[OPTIONS]"] if options else [])])
    rows = [
        *(_row(_word(each), each) for each in arguments),
        *(_row(_option(each, *_bare(kinds[each.name])), each) for each in options),
    ]
    text = inspect.cleandoc(command.help)
    return "\n".join(
        [
            f"## `{name}`",
            "",
            f"```\n{usage}\n```",
            "",
            text,
            "",
            "| | | default |",
            "| --- | --- | --- |",
            *rows,
        ]
    )


def _word(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper().replace("_", "-"))


def _option(option: Any, kind: Any, repeated: bool) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if kind is bool:
        return names
    place = option.metavar or ("\\|".join(get_args(kind)) if get_origin(kind) is Literal else _PLACE[kind])
    return f"{names[:-1]} {place}`" + (" …" if repeated else "")


def _bare(kind: Any) -> tuple[Any, bool]:
    """A parameter's type without None and list, and whether it was a list."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    return (get_args(kind)[0], True) if get_origin(kind) is list else (kind, False)


def _row(word: str, parameter: Any) -> str:
    text = re.sub(r"\s+", " ", parameter.help or "").replace("<", "&lt;").replace("|", "\\|")
    return f"| {word if word.startswith('`') else f'`{word}`'} | {text} | {_default(parameter)} |"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "needed"
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if isinstance(parameter.default, bool):  # a switch's name says what it is for
        both = [*parameter.opts, *parameter.secondary_opts]
        return f"`{both[not parameter.default]}`" if len(both) == 2 else ""
    return "" if parameter.default is None else f"`{parameter.default}`"
