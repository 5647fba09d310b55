"""`knowwhen report`: the report of an evaluation, written anew from its journals."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(help="The folder that evaluate or compare wrote to.")],
    right: Annotated[
        str, typer.Option(help="The metric by which an answer counts as right, from 0.5 on.")
    ] = "exact_match",
    seed: Annotated[int, typer.Option(help="Seed of the intervals and permutations.")] = 0,
    seconds: Annotated[
        bool,
        typer.Option(
            " /--no-seconds",
            help="Leave out what the clock measured, in which no two runs agree.",
            show_default=False,
        ),
    ] = True,
) -> None:
    """Write report.md and report.html anew, with plots, their data and every question.

    Nothing is asked: it is made of the journals alone, also of those of a run that is still going on. Docs:
    docs/report.md.
    """
    from knowwhen.evaluation.report import write_report
    from knowwhen.interrupt import stopping_at_once

    with stopping_at_once():
        written = write_report(folder, right=right, seed=seed, seconds=seconds)
    if written.missing:
        typer.echo(written.missing, err=True)
    print(written.markdown)
    print(written.html)
