"""A method's settings as a form, made from their names, bounds and descriptions alone."""

import types
from collections.abc import Sequence
from typing import Any, Literal, Union, get_args, get_origin

import gradio as gr
from gradio.components import Component
from pydantic.fields import FieldInfo

from knowwhen.method_settings import settings_of
from knowwhen.nodes.settings import Settings
from knowwhen.settings_text import read_settings

FINEST = 0.01  # by which a number between bounds moves
MOST_ON_A_SLIDER = 100


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
    """What a filled-in form says, as far as it differs from the defaults.

    Args:
        method: whose form.
        values: of its inputs, in their order.

    Raises:
        SettingsError: there is no such method.
    """
    fields = settings_of(method).model_fields
    given = {}
    for name, value in zip(names_of(method), values, strict=True):
        if _nullable(fields[name]) and isinstance(value, str):
            value = read_settings([f"{name}={value.strip()}"])[name] if value.strip() else None
        if value != fields[name].default:
            given[name] = value
    return given


def _input(name: str, field: FieldInfo, key: str) -> Component:
    told: dict[str, Any] = {
        "label": name.replace("_", " "), "info": field.description, "value": field.default, "key": key,
        "interactive": True,
    }  # fmt: skip
    kind = field.annotation
    if _nullable(field):  # an empty number would be sent as 0
        return gr.Textbox(**{**told, "value": "", "placeholder": "the method's own"})
    if get_origin(kind) is Literal:
        return gr.Radio(choices=list(get_args(kind)), **told)
    if kind is bool:
        return gr.Checkbox(**told)
    if kind in (int, float):
        return _number(field, told)
    return gr.Textbox(**told)


def _number(field: FieldInfo, told: dict[str, Any]) -> Component:
    """A slider between two bounds; a plain number, which the settings themselves check, without."""
    step = 1 if field.annotation is int else FINEST
    bounds = {
        name: getattr(bound, name)
        for bound in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if hasattr(bound, name)
    }
    low = bounds.get("ge", bounds["gt"] + step if "gt" in bounds else None)
    high = bounds.get("le", bounds["lt"] - step if "lt" in bounds else None)
    if low is None or high is None or high > MOST_ON_A_SLIDER:
        return gr.Number(precision=0 if field.annotation is int else None, **told)
    return gr.Slider(minimum=low, maximum=high, step=step, **told)


def _nullable(field: FieldInfo) -> bool:
    return get_origin(field.annotation) in (Union, types.UnionType) and type(None) in get_args(
        field.annotation
    )
