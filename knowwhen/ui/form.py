"""A method's settings as a form, made from their names, bounds and descriptions alone."""

from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

import gradio as gr
from gradio.components import Component
from pydantic.fields import FieldInfo

from knowwhen.method_settings import settings_of
from knowwhen.nodes.settings import Settings
from knowwhen.settings_text import read_settings


def setting_inputs(method: str, key: str) -> list[Component]:
    """An input for each setting, the method's own before those that all methods have.

    Args:
        method: whose settings.
        key: of this form among several on a page.

    Raises:
        SettingsError: there is no such method.
    """
    fields = settings_of(method).model_fields
    return [_input(name, fields[name], f"{key}-{method}-{name}") for name in names_of(method)]


def names_of(method: str) -> list[str]:
    """The settings in the order of the form: those that all methods have come last.

    Raises:
        SettingsError: there is no such method.
    """
    settings = settings_of(method)
    each = (name for kind in settings.__mro__ if issubclass(kind, Settings) for name in kind.__annotations__)
    names = [name for name in dict.fromkeys(each) if name in settings.model_fields]
    return sorted(names, key=lambda name: name in Settings.model_fields)


def settings_from(method: str, values: Sequence[Any]) -> dict[str, Any]:
    """What a filled-in form says, as far as it differs from the defaults, which an empty field stands for.

    Args:
        method: whose form.
        values: of its inputs, in their order.

    Raises:
        SettingsError: there is no such method.
    """
    fields = settings_of(method).model_fields
    given = {}
    for name, value in zip(names_of(method), values, strict=True):
        if isinstance(value, str):
            value = value.strip()
            value = read_settings([f"{name}={value}"])[name] if _is_number(fields[name]) else value
        if value not in ("", fields[name].default):
            given[name] = value
    return given


def _input(name: str, field: FieldInfo, key: str) -> Component:
    told: dict[str, Any] = {
        "label": name.replace("_", " "), "info": _info(field), "interactive": True, "min_width": 200,
        "elem_id": key,
    }  # fmt: skip
    if get_origin(field.annotation) is Literal:
        return gr.Radio(choices=list(get_args(field.annotation)), value=field.default, **told)
    if field.annotation is bool:
        return gr.Checkbox(value=field.default, **told)
    # Numbers, too: the settings say what is wrong with one, and gradio's makes 0 of one left empty.
    default = "" if field.default is None else str(field.default)
    return gr.Textbox(value=default, placeholder=default or "the method's own", max_lines=1, **told)


def _is_number(field: FieldInfo) -> bool:
    return bool({field.annotation, *get_args(field.annotation)} & {int, float})


def _info(field: FieldInfo) -> str:
    """What a setting is, and its bounds."""
    bounds = {
        name: f"{getattr(bound, name):g}"
        for bound in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if hasattr(bound, name)
    }
    words = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    told = " and ".join(f"{words[name]} {bounds[name]}" for name in words if name in bounds)
    if "ge" in bounds and "le" in bounds:
        told = f"{bounds['ge']} to {bounds['le']}"
    return f"{field.description} ({told})" if told else str(field.description)
