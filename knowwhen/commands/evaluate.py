"""`knowwhen evaluate`: how good models and methods are, on questions with known answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowwhen.commands import evaluate_method, run_options
from knowwhen.commands.progress import questions_done
from knowwhen.commands.skipping import skipping

if TYPE_CHECKING:
    from knowwhen.evaluation.boundary import BoundaryReport

app = typer.Typer(no_args_is_help=True, invoke_without_command=True)
app.callback()(evaluate_method.evaluate)


@app.command()
def boundary(
    dataset: Annotated[
        list[str],
        typer.Option(
            help="A file of single-hop questions in any form of docs/datasets.md, almanac:test, "
            "almanac:calibration, almanac:train, or hf:<name>; repeatable."
        ),
    ],
    model: Annotated[
        str, typer.Option(help="pocket, transformers:<folder or hub id>, openai:<name>, ollama:<name>, …")
    ] = "pocket",
    judge: Annotated[
        str | None,
        typer.Option(
            help="A model that says whether an answer implies the right one, for the accuracy.",
            show_default="none; accuracy is whether the answer contains a right one",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="How many questions of each dataset, drawn at random.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the draw and of the intervals.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the report, of its plot and of all answers; a stopped run goes on from it.",
            show_default="nothing is kept",
        ),
    ] = None,
    kind: run_options.Kind = None,
    skip_bad: run_options.SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure whether a model knows what it knows: TAIKC's boundary report.

    Every question is asked twice: plainly (Direct QA), and to be answered only if the model is certain
    (Confident QA). Docs: docs/boundary.md.
    """
    from knowwhen.evaluation.boundary import boundary_report
    from knowwhen.interrupt import stopping_at_once

    with stopping_at_once():
        with skipping(skip_bad) as skipped, questions_done("asking") as report:
            found = boundary_report(
                model,
                dataset,
                judge=judge,
                limit=limit,
                seed=seed,
                out=out,
                kind=kind,
                skipped=skipped,
                report=report,
            )
        if out is not None:
            _write(found, out)
    _tell(found)
    if as_json:
        print(found.model_dump_json())
    else:
        _print(found)


def _write(report: "BoundaryReport", out: Path) -> None:
    from knowwhen.evaluation.boundary_table import as_markdown
    from knowwhen.evaluation.journal import unwritable

    try:
        (out / "boundary.json").write_text(report.model_dump_json(indent=2) + "\n", "utf-8")
        (out / "boundary.md").write_text(as_markdown(report), "utf-8")
    except OSError as error:
        raise unwritable(out, error) from None
    try:
        from knowwhen.evaluation.boundary_plot import plot_boundary
    except ModuleNotFoundError:
        typer.echo("there is no plot without matplotlib; pip install 'knowwhen[training]'", err=True)
    else:
        plot_boundary(report, out / "boundary.png")


def _tell(report: "BoundaryReport") -> None:
    """Say on stderr what the figures do not: what was left out, what failed, which replies said nothing."""
    for each in report.datasets:
        for count, of_what in (
            (each.left_out, "questions take more than one fact and are left out"),
            (each.failed, "questions failed and are left out; run again to ask them again"),
            (each.empty, "replies to Confident QA were empty and count as declined"),
            (each.unread, "replies of the judge were neither yes nor no and count as no"),
        ):
            if count:
                typer.echo(f"{each.dataset}: {count:,} {of_what}", err=True)
    if report.first_failure:
        typer.echo(f"the first failure was {report.first_failure}", err=True)


def _print(report: "BoundaryReport") -> None:
    """Print a table for each dataset, an interval below its figure so that 80 columns hold them."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from knowwhen.evaluation.boundary_table import headings, rows, verdicts
    from knowwhen.tools.printable import printable

    screen = Console(highlight=False)
    for block in report.blocks:
        table = Table(box=SIMPLE, title=Text(printable(block.dataset)), title_justify="left", pad_edge=False)
        for place, heading in enumerate(headings(report)):
            table.add_column(Text(printable(heading)), justify="right" if place else "left")
        for row in rows(block):
            table.add_row(*(Text(cell.replace(" [", "\n[").replace(", ", ",")) for cell in row))
        screen.print(table)
        screen.print(verdicts(block), markup=False)
        screen.print()
