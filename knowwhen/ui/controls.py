"""The parts that several tabs have: question, method, model, corpus, and a place for what is shown."""

from typing import Any

import gradio as gr

from knowwhen.tools.resolve import NAMED

NARROWEST = 240  # pixels; two side by side do not fit a phone
LIVE = '<div role="status">${value}</div>'  # stays while what is in it changes, or changes are not read out
EXAMPLES = {
    "half known": "Which person starred in Skirn Vlurk and directed Thimis Plolm?",
    "known": "Who directed Thimis Plolm?",
    "not known": "Who starred in Skirn Vlurk?",
}
"""Of the pocket model."""


def question_input(key: str) -> gr.Textbox:
    """The question; Enter asks it."""
    return gr.Textbox(
        label="Question",
        placeholder="Ask something, then press Enter",
        lines=1,
        max_lines=5,
        interactive=True,
        elem_id=f"{key}-question",
    )


def area(text: str = "", **told: Any) -> gr.HTML:
    """Where the page's own HTML is shown, in the page's own style."""
    return gr.HTML(text, apply_default_css=False, **told)


def spoken_area(elem_id: str) -> gr.HTML:
    """Where it is shown what is to be told to who cannot see it, too."""
    return area(elem_id=elem_id, elem_classes="kw-live", html_template=LIVE)


def scroll_to(elem_id: str) -> str:
    """JavaScript that shows what is asked for, where it would come below the fold."""
    return f"""() => {{
      const seen = document.getElementById("{elem_id}");
      if (seen.getBoundingClientRect().top > innerHeight / 2) seen.scrollIntoView();
    }}"""


def examples(question: gr.Textbox) -> None:
    """Questions to begin with."""
    gr.Examples(
        [[each] for each in EXAMPLES.values()],
        question,
        example_labels=[f"{name}: {each}" for name, each in EXAMPLES.items()],
        label="For the pocket model",
        api_visibility="private",
    )


def model_input(key: str) -> gr.Textbox:
    """Any model that the command line takes."""
    return gr.Textbox(
        "pocket",
        label="Model",
        info="pocket, transformers:<folder or hub id>, openai:<name>, ollama:<name>, …",
        max_lines=1,
        interactive=True,
        min_width=NARROWEST,
        elem_id=f"{key}-model",
    )


def corpus_input(key: str) -> gr.Textbox:
    """Any corpus that the command line takes."""
    return gr.Textbox(
        "almanac",
        label="Corpus",
        info=f"{', '.join(NAMED)}, or the folder of an index",
        max_lines=1,
        interactive=True,
        min_width=NARROWEST,
        elem_id=f"{key}-corpus",
    )
