"""Under an answer: thresholds to be moved, and what would become of each question."""

from typing import Any

import gradio as gr

from knowwhen.ui import html
from knowwhen.ui.controls import area, spoken_area
from knowwhen.ui.request import Library
from knowwhen.ui.run import Run
from knowwhen.ui.what_if.gates import what_if_of
from knowwhen.ui.what_if.turn import Dial, Values, WhatIf

DIALS = 2  # thresholds of one method, at most
WHAT_IF = "<h2 class='kw'>What if a threshold were another?</h2>"


SETTLED = """async (run, ...dials) => {
  window.knowwhenDials = dials
  await new Promise(settled => setTimeout(settled, 100))
  return [run, ...window.knowwhenDials.map((value, number) => {
    const slider = document.querySelector(`#ask-dial-${number} input[type=range]`)
    const within = value !== null && (!slider || slider.min <= value && value <= slider.max)
    return within ? value : slider?.valueAsNumber ?? value
  })]
}"""
"""The thresholds; what the slider shows while the number beside it is empty or out of bounds, half written.

All moves of a moment tell the last of them: they are sent side by side, and may arrive in another order. No
more is read off a slider, as it shows another value while it is laid out.
"""


class WhatIfPanel:
    """Laid out within a page that is being built; hidden until there is something to move.

    Args:
        library: the models that a preset's threshold belongs to.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        with gr.Column(visible=False, elem_id="ask-what-if") as self.whole:
            area(WHAT_IF)
            self._dials = [
                gr.Slider(visible=False, interactive=True, buttons=[], elem_id=f"ask-dial-{number}")
                for number in range(DIALS)
            ]
            self._said = [spoken_area("ask-told"), area(elem_id="ask-turns")]
        self.filled = [self.whole, *self._dials, *self._said]

    def follow(self, finished: gr.State) -> None:
        """Say what would change whenever a threshold has moved, by whatever it was moved."""
        gr.on(
            [dial.change for dial in self._dials],
            self._move,
            [finished, *self._dials],
            self._said,
            js=SETTLED,
            show_progress="hidden",
            trigger_mode="always_last",
            queue=False,
            api_visibility="private",
        )

    def offer(self, run: Run | None) -> list[Any]:
        """The thresholds of a run that was answered, where they were."""
        gate = what_if_of(run, self._library) if run else None
        found = list(gate.dials()) if gate else []
        sliders = [_as_slider(found[number] if number < len(found) else None) for number in range(DIALS)]
        said = _said(gate, {dial.name: dial.value for dial in found}) if gate else ["", ""]
        return [gr.Column(visible=gate is not None), *sliders, *said]

    def _move(self, run: Run | None, *values: float) -> list[Any]:
        gate = what_if_of(run, self._library) if run else None
        if gate is None:
            return [gr.skip(), gr.skip()]
        return _said(gate, {dial.name: value for dial, value in zip(gate.dials(), values, strict=False)})


def _said(gate: WhatIf, values: Values) -> list[str]:
    return [html.told(gate, values), html.what_if(gate, values)]


def _as_slider(dial: Dial | None) -> gr.Slider:
    if dial is None:
        return gr.Slider(visible=False)
    label = dial.name if dial.name == dial.label else f"{dial.name} ({dial.label})"
    return gr.Slider(
        label=label, value=dial.value, minimum=dial.low, maximum=dial.high, step=dial.step, visible=True
    )
