"""`knowwhen train tune`: fine-tune a local model on chat JSONL by LoRA."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer


def tune(
    model: Annotated[
        str, typer.Option(help="pocket or transformers:<folder or hub id>; it is left as it is.")
    ],
    data: Annotated[
        list[Path],
        typer.Option(
            help="A file of chat JSONL, or the folder of train boundary or train instructions; repeatable."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The run's folder; a stopped run goes on from it.")],
    rank: Annotated[int, typer.Option(min=1, help="Rank of the LoRA matrices.")] = 16,
    alpha: Annotated[int, typer.Option(min=1, help="Their scale is alpha / rank.")] = 32,
    rate: Annotated[float, typer.Option(help="Learning rate of AdamW, which falls linearly to zero.")] = 5e-5,
    epochs: Annotated[int, typer.Option(min=1, help="Rounds over the data.")] = 3,
    batch: Annotated[int, typer.Option(min=1, help="Turns computed at once.")] = 2,
    accumulation: Annotated[int, typer.Option(min=1, help="Batches to a step.")] = 8,
    longest: Annotated[int, typer.Option(min=1, help="Tokens of a turn; longer ones are left out.")] = 2048,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order and of the first matrices.")] = 0,
    save_every: Annotated[int, typer.Option(min=1, help="Steps between checkpoints.")] = 50,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge/--adapter", help="Save the whole model, or the adapter alone, which needs --model."
        ),
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fine-tune a local model by LoRA, at TAIKC's hyperparameters; the loss is on the replies alone.

    The tuned model lies in OUT/model, for --model transformers:OUT/model, and the loss curve beside it. The
    same command goes on with a run that was stopped, from its last checkpoint. Needs knowwhen[training].
    """
    import json

    from knowwhen.interrupt import stopping_at_once
    from knowwhen.training.tune import tune_model

    with stopping_at_once(), _progress() as report:
        summary = tune_model(
            model,
            data,
            out,
            merge=merge,
            save_every=save_every,
            report=report,
            rank=rank,
            alpha=alpha,
            rate=rate,
            epochs=epochs,
            batch=batch,
            accumulation=accumulation,
            longest=longest,
            seed=seed,
        )
    if summary.left_out:
        typer.echo(
            f"{summary.left_out:,} turns are longer than {longest:,} tokens and were left out", err=True
        )
    if as_json:
        print(json.dumps(summary.as_json(), ensure_ascii=False))
    else:
        print(
            f"{summary.model}: {summary.turns:,} turns, {summary.steps:,} steps, "
            f"loss {summary.first_loss:.3f} at first and {summary.last_loss:.3f} at last"
        )


@contextmanager
def _progress() -> Iterator[Callable[[int, int, float], None]]:
    """Show steps, loss and time left on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("tuning"),
        BarColumn(),
        TextColumn("step {task.completed:,} of {task.total:,}, loss {task.fields[loss]:.3f}"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True))

    def report(step: int, steps: int, loss: float) -> None:
        if not progress.tasks:
            progress.add_task("", total=steps, loss=loss)
            progress.start()
        progress.update(progress.tasks[0].id, completed=step, loss=loss)

    try:
        yield report
    finally:
        if progress.tasks:
            progress.stop()
