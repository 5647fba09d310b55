"""The whole page."""

from pathlib import Path
from typing import Any

import gradio as gr

from knowwhen.ui.ask_tab import ask_tab
from knowwhen.ui.compare_tab import compare_tab
from knowwhen.ui.controls import area
from knowwhen.ui.request import Library
from knowwhen.ui.runs_tab import runs_tab

HERE = Path(__file__).parent
TITLE = """\
<header class="kw kw-title"><h1>knowwhen</h1>
<p class="kw-faint">Look up what the language model does not know, and only that.</p></header>"""
FONTS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "DejaVu Sans", "sans-serif")
CODE_FONTS = ("ui-monospace", "SFMono-Regular", "DejaVu Sans Mono", "monospace")


def build_page() -> gr.Blocks:
    """The page, not yet served."""
    library = Library()
    page = gr.Blocks(title="knowwhen", analytics_enabled=False)
    with page:
        area(TITLE)
        with gr.Tabs():
            with gr.Tab("Ask"):
                ask_tab(library)
            with gr.Tab("Compare"):
                compare_tab(library)
            with gr.Tab("Evaluations"):
                runs_tab()
    return page


def look() -> dict[str, Any]:
    """How it looks, as `Blocks.launch` takes it: the fonts are the reader's own, none is fetched."""
    theme = gr.themes.Default(primary_hue="blue", neutral_hue="slate", font=FONTS, font_mono=CODE_FONTS)
    theme.set(  # gradio's own are too faint to be read by all
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_300",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
        button_primary_background_fill="*primary_600",
    )
    return {
        "theme": theme,
        "css": (HERE / "page.css").read_text("utf-8"),
        "js": (HERE / "page.js").read_text("utf-8"),
    }
