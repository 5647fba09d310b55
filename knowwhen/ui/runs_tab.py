"""The tab that opens an evaluation: its tables, and each question with what every method made of it."""

from typing import Any

import gradio as gr

from knowwhen.models.errors import KnowwhenError
from knowwhen.ui import html
from knowwhen.ui.controls import area, spoken_area
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
    status = spoken_area("runs-status")
    tables = area(elem_id="runs-tables")
    with gr.Column(visible=False, elem_id="runs-questions") as panel:
        with gr.Row():
            wrong = gr.Dropdown([ALL], value=ALL, label="Answers", min_width=150, elem_id="runs-wrong")
            need = gr.Dropdown(
                [EITHER], value=EITHER, label="Retrieval is", min_width=150, elem_id="runs-need"
            )
            text = gr.Textbox(label="Text", max_lines=1, min_width=150, elem_id="runs-text")
        places, questions = spoken_area("runs-places"), area(elem_id="runs-list")
        with gr.Row():
            before = gr.Button("Previous", min_width=80, interactive=False)
            after = gr.Button("Next", min_width=80, interactive=False)
    folder: gr.State = gr.State("")
    first = gr.State(0)

    quiet: dict[str, Any] = {
        "show_progress": "hidden",
        "concurrency_limit": None,
        "api_visibility": "private",
    }
    page = [places, questions, first, before, after]
    filters = [wrong, need, text]
    gr.on(
        [button.click, path.submit],
        _opened,
        path,
        [status, tables, panel, *filters, folder, *page],
        show_progress="minimal",
        concurrency_limit=None,
        api_visibility="private",
    )
    gr.on(
        [wrong.input, need.input, text.change],
        _filtered,
        [folder, *filters],
        page,
        trigger_mode="always_last",
        **quiet,
    )
    for turned, turn in ((before, _earlier), (after, _later)):
        shown = turned.click(turn, [folder, *filters, first], page, **quiet)
        shown.then(None, js="() => document.getElementById('runs-places').scrollIntoView()")


def _shown(opened: RunFolder, who: str, why: str, what: str, at: int) -> list[Any]:
    labels = {ALL: None, ANY: "", **{_by(label): label for label in opened.labels}}
    found = opened.found(labels.get(who), "" if why == EITHER else why, what)
    at = at if 0 <= at < len(found) else 0
    listed = opened.questions(found[at : at + PAGE])
    told = [html.shown(at, len(listed), len(found)), html.questions(listed, opened.number)]
    return [*told, at, gr.Button(interactive=at > 0), gr.Button(interactive=at + PAGE < len(found))]


def _opened(name: str) -> list[Any]:
    try:
        opened = open_folder(name)
        choices = [ALL, ANY, *map(_by, opened.labels)]
        return [
            html.done("Opened."),
            html.tables(opened.summary),
            gr.Column(visible=True),
            gr.Dropdown(choices, value=ALL),
            gr.Dropdown([EITHER, *opened.needs], value=EITHER, visible=bool(opened.needs)),
            "",
            name,
            *_shown(opened, ALL, EITHER, "", 0),
        ]
    except KnowwhenError as error:
        hidden = [html.failed(error), "", gr.Column(visible=False), *[gr.skip()] * 3, ""]
        return [*hidden, "", "", 0, gr.skip(), gr.skip()]


def _filtered(name: str, who: str, why: str, what: str, at: int = 0) -> list[Any]:
    if not name:
        return [gr.skip()] * 5
    try:
        return _shown(open_folder(name), who, why, what, at)
    except KnowwhenError as error:
        return [html.failed(error), "", 0, gr.skip(), gr.skip()]


def _earlier(name: str, who: str, why: str, what: str, at: int) -> list[Any]:
    return _filtered(name, who, why, what, at - PAGE)


def _later(name: str, who: str, why: str, what: str, at: int) -> list[Any]:
    return _filtered(name, who, why, what, at + PAGE)


def _by(label: str) -> str:
    return f"wrong by {label}"
