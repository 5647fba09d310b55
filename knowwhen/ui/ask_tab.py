"""The tab that asks a question and shows its tree as it grows; then, what another threshold would change."""

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr

from knowwhen.models.errors import KnowwhenError
from knowwhen.ui import html
from knowwhen.ui.controls import area, corpus_input, examples, method_input, model_input, question_input
from knowwhen.ui.form import setting_inputs, settings_from
from knowwhen.ui.request import Library, Request
from knowwhen.ui.run import Run, answering
from knowwhen.ui.what_if.gates import what_if_of
from knowwhen.ui.what_if.turn import Dial

DIALS = 2  # thresholds of one method, at most
NOTHING_YET = "<p class='kw kw-empty'>Here come the answer, the tree of questions and what was read.</p>"
WHAT_IF = "<h3 class='kw'>What if a threshold were another?</h3>"
SCROLL = "() => innerWidth < 768 && document.getElementById('ask-seen').scrollIntoView({behavior: 'smooth'})"


def ask_tab(library: Library) -> None:
    """Lay the tab out, within a page that is being built."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=300):
            question = question_input("ask")
            with gr.Row():
                ask = gr.Button("Ask", variant="primary", min_width=80, elem_id="ask-ask")
                stop = gr.Button("Stop", interactive=False, min_width=80, elem_id="ask-stop")
            method = method_input("Method", "self_dc", "ask")
            model, corpus = model_input("ask"), corpus_input("ask")
            form = gr.Column()
            examples(question)
        with gr.Column(scale=3, min_width=300, elem_id="ask-seen"):
            status = area(elem_id="ask-status", elem_classes="kw-live")
            seen = area(NOTHING_YET, elem_id="ask-result")
            with gr.Column(visible=False, elem_id="ask-what-if") as panel:
                area(WHAT_IF)
                dials = [gr.Slider(visible=False, elem_id=f"ask-dial-{number}") for number in range(DIALS)]
                turns = area(elem_id="ask-turns")
    finished = gr.State()

    async def answer(
        asked: str, by: str, of: str, among: str, *values: Any
    ) -> AsyncIterator[tuple[str, str, Run | None, Any, Any]]:
        try:
            request = Request(asked, by, of.strip(), among.strip(), settings_from(by, values))
        except KnowwhenError as error:
            yield html.failed(error), "", None, gr.skip(), gr.skip()
            return
        async for (run,) in answering(library, request):
            ended = run.state in ("answered", "failed")
            answered = run if run.state == "answered" else None
            offered = gr.skip() if ended else gr.Column(visible=False)  # what was said of the run before
            yield html.status(run), html.result(run), answered, gr.Button(interactive=not ended), offered

    def offer(run: Run | None) -> list[Any]:
        gate = what_if_of(run, library) if run else None
        found = list(gate.dials()) if gate else []
        sliders = [_as_slider(found[number] if number < len(found) else None) for number in range(DIALS)]
        told = html.what_if(gate, {dial.name: dial.value for dial in found}) if gate else ""
        return [gr.Column(visible=gate is not None), *sliders, told]

    def move(run: Run | None, *values: float) -> str:
        gate = what_if_of(run, library) if run else None
        if gate is None:
            return ""
        names = [dial.name for dial in gate.dials()]
        return html.what_if(gate, dict(zip(names, values, strict=False)))

    def settings(name: str) -> None:
        with gr.Accordion("Settings", open=False, elem_id="ask-settings"):
            inputs = setting_inputs(name, "ask")
        asking = gr.on(
            [ask.click, question.submit],
            answer,
            [question, method, model, corpus, *inputs],
            [status, seen, finished, stop, panel],
            show_progress="hidden",
            concurrency_limit=None,
            api_visibility="private",
        )
        asking.then(offer, finished, [panel, *dials, turns], show_progress="hidden", api_visibility="private")
        stop.click(
            lambda: (html.stopped(), gr.Button(interactive=False)),
            None,
            [status, stop],
            cancels=[asking],
            queue=False,
            api_visibility="private",
        )

    with form:
        gr.render(inputs=method)(settings)

    gr.on([ask.click, question.submit], None, js=SCROLL)
    gr.on(
        [dial.input for dial in dials],
        move,
        [finished, *dials],
        turns,
        show_progress="hidden",
        trigger_mode="always_last",
        queue=False,
        api_visibility="private",
    )


def _as_slider(dial: Dial | None) -> gr.Slider:
    if dial is None:
        return gr.Slider(visible=False)
    return gr.Slider(
        label=dial.label, value=dial.value, minimum=dial.low, maximum=dial.high, step=dial.step, visible=True
    )
