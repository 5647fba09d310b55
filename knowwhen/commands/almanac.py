"""`knowwhen almanac`: write a generated encyclopedia, its questions and its index to a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from knowwhen.almanac import AlmanacCounts


def almanac(
    out: Annotated[
        Path, typer.Option(help="A new or empty folder, or that of an almanac, which is replaced.")
    ],
    seed: Annotated[
        int | None,
        typer.Option(
            help="Which world; but for one of them, the pocket model has read of none.",
            show_default="7, the one that the pocket model has read of",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a generated encyclopedia, its questions and its index to a folder."""
    import json

    from knowwhen.almanac import DEFAULT_SEED, unfinished, world_of, write_files
    from knowwhen.tools.almanac import almanac_entries
    from knowwhen.tools.index import build_index

    world = world_of(DEFAULT_SEED if seed is None else seed)
    with unfinished(out) as folder:
        counts = write_files(world, folder)
        build_index(almanac_entries(world), folder / "index")
    _show(counts)
    if as_json:
        print(json.dumps({"almanac": str(out), **counts.as_json()}))
    else:
        print(f"{out}: {sum(counts.passages.values()):,} passages, {_questions(counts):,} questions")


def _questions(counts: "AlmanacCounts") -> int:
    return sum(
        number for kinds in counts.questions.values() for each in kinds.values() for number in each.values()
    )


def _show(counts: "AlmanacCounts") -> None:
    """Print the questions of every split by kind and quadrant, on stderr."""
    from rich.console import Console
    from rich.table import Table

    table = Table("questions", title=f"almanac {counts.seed}: facts known / unknown / mixed")
    for split in counts.questions:
        table.add_column(split, justify="right")
    kinds = list(dict.fromkeys(kind for each in counts.questions.values() for kind in each))
    for kind in kinds:
        cells = [_cell(each.get(kind, {})) for each in counts.questions.values()]
        table.add_row(kind, *cells)
    Console(stderr=True).print(table)


def _cell(quadrants: dict[str, int]) -> str:
    by_knowledge = {name.split()[1]: number for name, number in quadrants.items()}
    return " / ".join(str(by_knowledge.get(name, 0)) for name in ("known", "unknown", "mixed"))
