"""`knowwhen train tools`: the pocket model learns to call tools, without changing anything else it does."""

from pathlib import Path
from typing import Annotated

import typer


def tools(
    out: Annotated[Path, typer.Option(help="The run's folder; a stopped run goes on from it.")] = Path(
        "runs/tools"
    ),
    base: Annotated[
        Path | None, typer.Option(help="Folder of a pocket model; the package's own if left out.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Training steps, of 2,048 tokens each.")] = 12_000,
    seed: Annotated[int, typer.Option(help="Seed of the training examples.")] = 6,
    compiled: Annotated[bool, typer.Option(help="Compile the model first.")] = False,
) -> None:
    """Teach the pocket model to call tools; the changes to its weights lie in OUT/model/tools.

    The model itself stays as it is. Put the folder tools beside its weights, and it is used whenever tools
    are bound.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from knowwhen.models.pocket import pocket
    from knowwhen.training.tools import ToolPlan, train_tools

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("learning to call tools", total=steps)

        def report(row: dict[str, float]) -> None:
            progress.update(bar, completed=row["step"], description=f"loss {row['loss']:.3f}")

        plan = ToolPlan(steps=steps, seed=seed)
        written = train_tools(base or Path(pocket().path), out, plan, report, compiled)
    print(written)
