"""The shell's front door: `knowwhen …`. Answers go to stdout, everything else to stderr."""

import sys
from typing import Annotated

import typer

from knowwhen.commands import (
    almanac,
    ask,
    calibrate,
    chat,
    compare,
    draw,
    evaluate,
    index,
    report,
    search,
    train,
    ui,
)

WRONG_USE, FAILED = 2, 1

app = typer.Typer(
    name="knowwhen",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(ask.ask)
app.command()(chat.chat)
app.command()(search.search)
app.add_typer(index.app, name="index")
app.command()(draw.draw)
app.command()(almanac.almanac)
app.add_typer(evaluate.app, name="evaluate")
app.command()(compare.compare)
app.command()(report.report)
app.command()(ui.ui)
app.add_typer(calibrate.app, name="calibrate")
app.add_typer(train.app, name="train")


@app.callback()
def knowwhen(
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Answer questions by looking up what the language model does not know, and only that."""


def main() -> None:
    """Run the command line.

    Exit status: 0 done, 1 failed, 2 wrong use, 130 stopped by Ctrl-C. An error that a user can act on is
    one line on stderr; its traceback is shown with `--debug`, anywhere on the line.
    """
    from knowwhen.models.errors import KnowwhenError, SettingsError
    from knowwhen.models.faults import UNKNOWN

    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        app(arguments)
    except KnowwhenError as error:
        if debug:
            raise
        how = ", which --debug shows" if str(error).endswith(UNKNOWN) else ""
        print(f"knowwhen: {error}{how}", file=sys.stderr)
        raise SystemExit(WRONG_USE if isinstance(error, SettingsError) else FAILED) from None
