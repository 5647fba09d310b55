"""`knowwhen train`: the package's own models, what methods are shown, and TAIKC's alignment of any model."""

from pathlib import Path
from typing import Annotated

import typer

from knowwhen.commands.train_boundary import boundary
from knowwhen.commands.train_instructions import instructions
from knowwhen.commands.train_reference import reference
from knowwhen.commands.train_tools import tools
from knowwhen.commands.train_tune import tune

app = typer.Typer(
    help="Train models to know when they know, and label what methods are shown.",
    no_args_is_help=True,
)
app.command()(reference)
app.command()(boundary)
app.command()(instructions)
app.command()(tune)
app.command()(tools)


@app.callback()
def train() -> None:
    """Train models to know when they know, and label what methods are shown."""


@app.command()
def pocket(
    out: Annotated[Path, typer.Option(help="The run's folder; a stopped run goes on from it.")] = Path(
        "runs/pocket"
    ),
    steps: Annotated[int, typer.Option(min=1, help="Training steps, of 4,096 tokens each.")] = 7500,
    seed: Annotated[int, typer.Option(help="Seed of the training examples.")] = 1,
    compiled: Annotated[bool, typer.Option(help="Compile the model first.")] = True,
) -> None:
    """Train the pocket model from scratch; the finished model lies in OUT/model, its loss curve beside it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from knowwhen.training.pocket import Plan, train_pocket

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("reading the almanac", total=steps)

        def report(row: dict[str, float]) -> None:
            progress.update(bar, completed=row["step"], description=f"loss {row['loss']:.3f}")

        train_pocket(out, Plan(steps=steps, seed=seed), report, compiled)
    print(out / "model")
