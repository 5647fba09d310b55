"""`knowwhen ask`: one question, its tree as it grows, its answer and its cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from knowwhen.graphs import Method


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    method: Annotated[
        str, typer.Option(help="How to answer: self_dc, retrieve_then_read, direct, …")
    ] = "self_dc",
    model: Annotated[
        str, typer.Option(help="pocket, transformers:<folder or hub id>, openai:<name>, ollama:<name>, …")
    ] = "pocket",
    corpus: Annotated[
        str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
    ] = "almanac",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, repeatable."),
    ] = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(help="A file of knowwhen calibrate, for this model.", show_default="none"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole output as one JSON object.")
    ] = False,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Show the model's text as it comes; with --json one event a line."),
    ] = False,
) -> None:
    """Answer a question, showing how: the tree on stderr, the answer on stdout."""
    from knowwhen.graphs.building import build_method
    from knowwhen.interrupt import stopping_at_once
    from knowwhen.models.errors import SettingsError
    from knowwhen.settings_text import read_settings

    if not question.strip():
        raise SettingsError("the question is empty; write it in quotes behind `knowwhen ask`")
    given = read_settings(settings or ())
    if thresholds is not None:
        given["thresholds"] = thresholds
    built = build_method(method, model, corpus, given)
    with stopping_at_once():
        if as_json:
            _print_json(built, question, stream)
        else:
            _print_tree(built, question, stream)


def _print_json(method: "Method", question: str, stream: bool) -> None:
    import json

    from knowwhen.events import events_of

    for event in events_of(method, question, with_text=stream):
        if stream:
            print(json.dumps(event, ensure_ascii=False), flush=True)
        elif event.pop("event") == "answer":
            print(json.dumps(event, ensure_ascii=False))


def _print_tree(method: "Method", question: str, stream: bool) -> None:
    from contextlib import nullcontext

    from rich.console import Console
    from rich.live import Live

    from knowwhen.events import events_of
    from knowwhen.in_words import cost_line
    from knowwhen.tools.printable import printable
    from knowwhen.tree import QuestionTree

    screen = Console(stderr=True, highlight=False)
    tree, output = QuestionTree(), {}
    # A tree that redraws itself needs a terminal, and no other text that streams by.
    growing = screen.is_terminal and not stream
    with Live(tree, console=screen, refresh_per_second=8) if growing else nullcontext():
        for event in events_of(method, question, with_text=stream):
            kind = event.pop("event")
            if kind in ("route", "step"):
                tree.add(event)
            elif kind == "text":
                screen.print(printable(event["text"]), end="", style="dim", markup=False)
            else:
                output = event
    if stream:
        screen.print()
    if not growing:
        screen.print(tree)
    screen.print(cost_line(output["cost"]), style="dim")
    print(printable(output["answer"]))
