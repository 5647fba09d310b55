"""The table of what a model is to learn, as in TAIKC's Tables 1, 5 and 6."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from knowwhen.training.turns import TurnCounts


def show_turns(file: Path, rows: Mapping[str, "TurnCounts"], unit: str) -> None:
    """Print number and mean lengths of each kind of turn, on stdout."""
    from rich.console import Console
    from rich.table import Table

    table = Table("turns", title=str(file))
    for heading in ("number", f"input ({unit})", f"output ({unit})"):
        table.add_column(heading, justify="right")
    for kind, counts in rows.items():
        lengths = (f"{counts.input_length:.1f}", f"{counts.output_length:.1f}")
        table.add_row(kind, f"{counts.number:,}", *lengths)
    Console().print(table)


def show_failures(failed: int, first: str) -> None:
    """Say on stderr how many questions failed, if any did."""
    if failed:
        typer.echo(
            f"{failed:,} questions failed, the first was {first}; run again to ask them again", err=True
        )
