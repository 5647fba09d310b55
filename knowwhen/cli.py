"""The shell's front door: `knowwhen …`. Answers go to stdout, everything else to stderr."""

import sys

import typer

from knowwhen.commands import almanac, index, search

app = typer.Typer(
    name="knowwhen",
    help="Answer questions by looking up what the language model does not know, and only that.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(index.app, name="index")
app.command()(almanac.almanac)
app.command()(search.search)


def main() -> None:
    """Run the command line; an error that a user can act on is one line on stderr and exit status 1."""
    from knowwhen.models.errors import KnowwhenError

    try:
        app()
    except KnowwhenError as error:
        if "--debug" in sys.argv:
            raise
        print(f"knowwhen: {error}", file=sys.stderr)
        raise SystemExit(1) from None
