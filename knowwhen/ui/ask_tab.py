"""The tab that asks a question and shows its tree as it grows; then, what another threshold would change."""

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr

from knowwhen.models.errors import KnowwhenError
from knowwhen.ui import html
from knowwhen.ui.controls import (
    area,
    corpus_input,
    examples,
    model_input,
    question_input,
    scroll_to,
    spoken_area,
)
from knowwhen.ui.desk import Desk
from knowwhen.ui.method_form import MethodForm, chosen
from knowwhen.ui.request import Library, Request
from knowwhen.ui.what_if_panel import WhatIfPanel

NOTHING_YET = "<p class='kw kw-empty'>Here come the answer, the tree of questions and what was read.</p>"


def ask_tab(library: Library) -> None:
    """Lay the tab out, within a page that is being built."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=300):
            question = question_input("ask")
            with gr.Row():
                ask = gr.Button("Ask", variant="primary", min_width=80, elem_id="ask-ask")
                stop = gr.Button("Stop", interactive=False, min_width=80, elem_id="ask-stop")
            form = MethodForm("Method", "self_dc", "ask")
            model, corpus = model_input("ask"), corpus_input("ask")
            examples(question)
        with gr.Column(scale=3, min_width=300, elem_id="ask-seen", elem_classes="kw-seen"):
            status = spoken_area("ask-status")
            seen = area(NOTHING_YET, elem_id="ask-result")
            panel = WhatIfPanel(library)
    finished = gr.State()
    asking = _Asking(library)
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

    asks = [ask.click, question.submit]
    gr.on(asks, None, js=scroll_to("ask-seen"))
    gr.on(
        asks,
        asking.answer,
        [question, model, corpus, *form.inputs],
        [status, seen, finished, stop, panel.whole],
        concurrency_limit=None,
        trigger_mode="multiple",
        **quiet,
    ).then(panel.offer, finished, panel.filled, **quiet)
    stop.click(asking.stop, None, None, queue=False, **quiet)
    panel.follow(finished)


class _Asking:
    """What the tab's result is filled with."""

    def __init__(self, library: Library) -> None:
        self._desk = Desk(library)

    async def answer(
        self, page: gr.Request, asked: str, of: str, among: str, *form: Any
    ) -> AsyncIterator[tuple[Any, ...]]:
        try:
            method, settings = chosen(form)
            request = Request(asked.strip(), method, of.strip(), among.strip(), settings)
            request.check()
        except KnowwhenError as error:
            yield html.failed(error), "", None, gr.skip(), gr.skip()
            return
        reader = str(page.session_hash)
        if self._desk.is_asking(reader, request):
            yield (gr.skip(),) * 5
            return
        async for (run,) in self._desk.ask(reader, request):
            answered = run if run.state == "answered" else None
            offered = gr.skip() if run.ended else gr.Column(visible=False)  # what was said of the run before
            yield html.status(run), html.result(run), answered, gr.Button(interactive=not run.ended), offered

    async def stop(self, page: gr.Request) -> None:
        self._desk.stop(str(page.session_hash))
