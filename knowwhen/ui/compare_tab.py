"""The tab that asks two methods the same question, side by side."""

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr

from knowwhen.models.errors import KnowwhenError
from knowwhen.ui import html
from knowwhen.ui.controls import area, corpus_input, examples, method_input, model_input, question_input
from knowwhen.ui.form import names_of, setting_inputs, settings_from
from knowwhen.ui.request import Library, Request
from knowwhen.ui.run import answering

SIDES = (("left", "One method", "self_dc"), ("right", "Another method", "retrieve_then_read"))


def compare_tab(library: Library) -> None:
    """Lay the tab out, within a page that is being built."""
    question = question_input("compare")
    with gr.Row():
        compare = gr.Button("Compare", variant="primary", min_width=80, elem_id="compare-compare")
        stop = gr.Button("Stop", interactive=False, min_width=80, elem_id="compare-stop")
    with gr.Row():
        model, corpus = model_input("compare"), corpus_input("compare")
    with gr.Row():
        methods = [method_input(label, value, f"compare-{side}") for side, label, value in SIDES]
    forms = gr.Column()
    table = area(elem_id="compare-table")
    with gr.Row(equal_height=False):
        seen = []
        for side, _, _ in SIDES:
            with gr.Column(min_width=300):
                seen.append(area(elem_id=f"compare-{side}-status", elem_classes="kw-live"))
                seen.append(area(elem_id=f"compare-{side}-result"))
    examples(question)

    async def answer(asked: str, of: str, among: str, *chosen: Any) -> AsyncIterator[tuple[Any, ...]]:
        names, values = chosen[:2], chosen[2:]
        first = len(names_of(names[0]))
        try:
            requests = [
                Request(asked, name, of.strip(), among.strip(), settings_from(name, own))
                for name, own in zip(names, (values[:first], values[first:]), strict=True)
            ]
        except KnowwhenError as error:
            yield html.failed(error), "", "", "", "", gr.skip()
            return
        async for runs in answering(library, *requests):
            ended = all(run.state in ("answered", "failed") for run in runs)
            shown = [
                shown for run in runs for shown in (html.status(run), html.result(run, run.request.method))
            ]
            yield *shown, html.compared(runs), gr.Button(interactive=not ended)

    def settings(one: str, other: str) -> None:
        inputs = []
        with gr.Row():
            for (side, _, _), name in zip(SIDES, (one, other), strict=True):
                with (
                    gr.Column(min_width=300),
                    gr.Accordion(f"Settings of {name}", open=False, elem_id=f"compare-{side}-settings"),
                ):
                    inputs += setting_inputs(name, f"compare-{side}")
        comparing = gr.on(
            [compare.click, question.submit],
            answer,
            [question, model, corpus, *methods, *inputs],
            [*seen, table, stop],
            show_progress="hidden",
            concurrency_limit=None,
            api_visibility="private",
        )
        stop.click(
            lambda: (html.stopped(), html.stopped(), gr.Button(interactive=False)),
            None,
            [seen[0], seen[2], stop],
            cancels=[comparing],
            queue=False,
            api_visibility="private",
        )

    with forms:
        gr.render(inputs=methods)(settings)
