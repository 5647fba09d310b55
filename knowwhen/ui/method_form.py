"""A choice of method with the settings of the method chosen."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
from gradio.components import Component

from knowwhen.graphs import METHODS
from knowwhen.graphs.descriptions import DESCRIPTIONS
from knowwhen.ui.controls import NARROWEST
from knowwhen.ui.form import names_of, setting_inputs, settings_from


class MethodForm:
    """Laid out within a page that is being built.

    The settings of all methods are there from the beginning, those of the chosen one are seen: what asks with
    them is then the same event whichever method is chosen, and what was set stays set.

    Args:
        label: of the choice.
        chosen: at first.
        key: of this form among several on a page.
    """

    def __init__(self, label: str, chosen: str, key: str) -> None:
        self.method = gr.Dropdown(
            list(METHODS),
            value=chosen,
            label=label,
            info=DESCRIPTIONS[chosen],
            interactive=True,
            min_width=NARROWEST,
            elem_id=f"{key}-method",
        )
        inputs: list[Component] = []
        forms = []
        with gr.Accordion("Settings", open=False, elem_id=f"{key}-settings"):
            for name in METHODS:
                with gr.Row(visible=name == chosen, elem_classes="kw-form") as form:
                    inputs += setting_inputs(name, key)
                forms.append(form)
        self.inputs: list[Component] = [self.method, *inputs]
        self.method.change(
            _shown,
            self.method,
            [self.method, *forms],
            show_progress="hidden",
            queue=False,
            api_visibility="private",
        )


def _shown(method: str) -> list[Any]:
    return [gr.Dropdown(info=DESCRIPTIONS[method]), *(gr.Row(visible=name == method) for name in METHODS)]


def chosen(values: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """The method, and its settings that differ from the defaults.

    Args:
        values: of a form's inputs.

    Raises:
        SettingsError: there is no such method.
    """
    method, rest = values[0], list(values[1:])
    own = {name: [rest.pop(0) for _ in names_of(name)] for name in METHODS}
    return method, settings_from(method, own.get(method, []))
