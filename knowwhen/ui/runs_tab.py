"""The tab that opens an evaluation: its tables, and each question with what every method made of it."""

from typing import Any

import gradio as gr

from knowwhen.evaluation.figures.retrieval_need import NEEDS
from knowwhen.models.errors import KnowwhenError
from knowwhen.ui import html
from knowwhen.ui.controls import area
from knowwhen.ui.run_folder import RunFolder, open_folder

PAGE = 20  # questions shown at once
ALL, ANY = "right or wrong", "wrong by any method"
EITHER = "needed or not"


def runs_tab() -> None:
    """Lay the tab out, within a page that is being built."""
    with gr.Row(equal_height=False):
        path = gr.Textbox(
            label="Folder",
            info="that knowwhen evaluate or knowwhen compare wrote to",
            max_lines=1,
            scale=5,
            min_width=220,
            elem_id="runs-folder",
        )
        button = gr.Button("Open", variant="primary", scale=1, min_width=80, elem_id="runs-open")
    status = area(elem_id="runs-status", elem_classes="kw-live")
    tables = area(elem_id="runs-tables")
    with gr.Column(visible=False, elem_id="runs-questions") as panel:
        with gr.Row():
            wrong = gr.Dropdown([ALL], value=ALL, label="Answers", min_width=150, elem_id="runs-wrong")
            need = gr.Dropdown(
                [EITHER, *NEEDS], value=EITHER, label="Retrieval is", min_width=150, elem_id="runs-need"
            )
            text = gr.Textbox(label="Text", max_lines=1, min_width=150, elem_id="runs-text")
        questions = area(elem_id="runs-list")
        with gr.Row():
            before = gr.Button("Before", min_width=80, interactive=False)
            after = gr.Button("Next", min_width=80, interactive=False)
    folder: gr.State = gr.State("")
    first = gr.State(0)

    def shown(opened: RunFolder, who: str, why: str, what: str, at: int) -> list[Any]:
        labels = {ALL: None, ANY: "", **{_by(label): label for label in opened.labels}}
        found = opened.found(labels.get(who), "" if why == EITHER else why, what)
        at = at if 0 <= at < len(found) else 0
        listed = html.questions(opened.questions(found[at : at + PAGE]), at, len(found))
        return [listed, at, gr.Button(interactive=at > 0), gr.Button(interactive=at + PAGE < len(found))]

    def open_it(name: str) -> list[Any]:
        try:
            opened = open_folder(name)
            choices = [ALL, ANY, *map(_by, opened.labels)]
            return [
                html.done("Opened."),
                html.tables(opened.summary),
                gr.Column(visible=True),
                gr.Dropdown(choices, value=ALL),
                EITHER,
                "",
                name,
                *shown(opened, ALL, EITHER, "", 0),
            ]
        except KnowwhenError as error:
            hidden = [html.failed(error), "", gr.Column(visible=False), *[gr.skip()] * 3, ""]
            return [*hidden, "", 0, gr.skip(), gr.skip()]

    def filtered(name: str, who: str, why: str, what: str, at: int = 0) -> list[Any]:
        if not name:
            return [gr.skip()] * 4
        try:
            return shown(open_folder(name), who, why, what, at)
        except KnowwhenError as error:
            return [html.failed(error), 0, gr.skip(), gr.skip()]

    def earlier(name: str, who: str, why: str, what: str, at: int) -> list[Any]:
        return filtered(name, who, why, what, at - PAGE)

    def later(name: str, who: str, why: str, what: str, at: int) -> list[Any]:
        return filtered(name, who, why, what, at + PAGE)

    quiet: dict[str, Any] = {
        "show_progress": "hidden",
        "concurrency_limit": None,
        "api_visibility": "private",
    }
    page = [questions, first, before, after]
    filters = [wrong, need, text]
    gr.on(
        [button.click, path.submit],
        open_it,
        path,
        [status, tables, panel, *filters, folder, *page],
        show_progress="minimal",
        concurrency_limit=None,
        api_visibility="private",
    )
    gr.on(
        [wrong.input, need.input, text.change],
        filtered,
        [folder, *filters],
        page,
        trigger_mode="always_last",
        **quiet,
    )
    before.click(earlier, [folder, *filters, first], page, **quiet)
    after.click(later, [folder, *filters, first], page, **quiet)


def _by(label: str) -> str:
    return f"wrong by {label}"
