"""`knowwhen chat`: a conversation with an agent that calls the methods as its tools."""

from pathlib import Path
from typing import Annotated

import typer


def chat(
    model: Annotated[
        str,
        typer.Option(
            help="Calls tools: pocket, transformers:<folder or hub id>, openai:<name>, ollama:<name>, …"
        ),
    ] = "pocket",
    corpus: Annotated[
        str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
    ] = "almanac",
    method: Annotated[
        str, typer.Option(help="How to answer: auto (the agent chooses), self_dc, keqa, seakr, taikc, …")
    ] = "auto",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the methods, or of one: METHOD.NAME=VALUE; repeatable.",
        ),
    ] = None,
    thread: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The conversation to go on with.", show_default="a new one"),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(help="Where conversations are kept.", show_default="chats.sqlite in the user's folder"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a turn.")] = False,
) -> None:
    """Talk with an agent that answers by the methods and names its sources; piped, a line is a message."""
    from knowwhen.chat.running import run
    from knowwhen.chat.session import Choice

    choice = Choice(model, corpus).with_method(method)
    raise typer.Exit(run(choice, settings or (), thread, history, as_json))
