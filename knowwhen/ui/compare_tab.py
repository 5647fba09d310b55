"""The tab that asks two methods the same question, side by side."""

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
from knowwhen.ui.request import Library, Request, names_of

SIDES = (("left", "One method", "self_dc"), ("right", "Another method", "retrieve_then_read"))


def compare_tab(library: Library) -> None:
    """Lay the tab out, within a page that is being built."""
    question = question_input("compare")
    with gr.Row():
        compare = gr.Button("Compare", variant="primary", min_width=80, elem_id="compare-compare")
        stop = gr.Button("Stop", interactive=False, min_width=80, elem_id="compare-stop")
    with gr.Row():
        model, corpus = model_input("compare"), corpus_input("compare")
    forms = []
    with gr.Row(equal_height=False):
        for side, label, method in SIDES:
            with gr.Column(min_width=300):
                forms.append(MethodForm(label, method, f"compare-{side}"))
    examples(question)
    with gr.Column(elem_id="compare-seen", elem_classes="kw-seen"):
        status, table = spoken_area("compare-status"), area(elem_id="compare-table")
        with gr.Row(equal_height=False):
            columns = []
            for side, _, _ in SIDES:
                with gr.Column(min_width=300):
                    columns.append(area(elem_id=f"compare-{side}-result"))
    comparing = _Comparing(library, len(forms[0].inputs))
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

    asks = [compare.click, question.submit]
    gr.on(asks, None, js=scroll_to("compare-seen"))
    gr.on(
        asks,
        comparing.answer,
        [question, model, corpus, *forms[0].inputs, *forms[1].inputs],
        [status, table, *columns, stop],
        concurrency_limit=None,
        trigger_mode="multiple",
        **quiet,
    )
    stop.click(comparing.stop, None, None, queue=False, **quiet)


class _Comparing:
    """What the tab's result is filled with; a form has `width` inputs."""

    def __init__(self, library: Library, width: int) -> None:
        self._desk = Desk(library)
        self._width = width

    async def answer(
        self, page: gr.Request, asked: str, of: str, among: str, *forms: Any
    ) -> AsyncIterator[tuple[Any, ...]]:
        try:
            sides = [chosen(forms[: self._width]), chosen(forms[self._width :])]
            requests = [
                Request(asked.strip(), name, of.strip(), among.strip(), settings) for name, settings in sides
            ]
            requests[0].check()
        except KnowwhenError as error:
            yield html.failed(error), "", "", "", gr.skip()
            return
        names, reader = names_of(requests), str(page.session_hash)
        if self._desk.is_asking(reader, *requests):
            yield (gr.skip(),) * 5
            return
        async for runs in self._desk.ask(reader, *requests):
            columns = [html.column(run, name) for run, name in zip(runs, names, strict=True)]
            ended = all(run.ended for run in runs)
            yield html.status(*runs), html.compared(runs), *columns, gr.Button(interactive=not ended)

    async def stop(self, page: gr.Request) -> None:
        self._desk.stop(str(page.session_hash))
