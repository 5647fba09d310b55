"""`knowwhen ui`: a page to ask, to compare methods and to look at evaluations."""

from typing import Annotated

import typer


def ui(
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Where it listens.", show_default="the first free from 7860 on"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="127.0.0.1: for this machine alone; 0.0.0.0: for whoever can reach it.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--open/--no-browser", help="Open it in a browser.")] = True,
) -> None:
    """Serve a local page, until Ctrl-C: ask, see the tree grow, move thresholds, compare, open evaluations.

    It needs gradio, which the extra `ui` installs, and no network. Docs: docs/ui.md.
    """
    import threading
    import webbrowser

    from knowwhen.interrupt import stopping_at_once
    from knowwhen.ui.serving import served

    with stopping_at_once(), served(host, port) as address:
        print(address, flush=True)
        typer.echo("Ctrl-C ends it", err=True)
        if browser:
            webbrowser.open(address)
        threading.Event().wait()
