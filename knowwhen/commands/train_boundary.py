"""`knowwhen train boundary`: what a model is to say and to decline, by its own right and wrong answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowwhen.commands import run_options
from knowwhen.commands.progress import questions_done
from knowwhen.commands.skipping import skipping
from knowwhen.commands.turn_table import show_failures, show_turns

if TYPE_CHECKING:
    from knowwhen.training.turns import TurnCounts


def boundary(
    dataset: Annotated[
        str,
        typer.Option(
            help="A file of single-fact questions in any form of docs/datasets.md, almanac:train, or "
            "hf:<name>."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The set's folder; a stopped run goes on from what is there.")],
    model: Annotated[
        str, typer.Option(help="pocket, transformers:<folder or hub id>, openai:<name>, ollama:<name>, …")
    ] = "pocket",
    limit: Annotated[int, typer.Option(min=1, help="How many questions, drawn at random.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    kind: run_options.Kind = None,
    skip_bad: run_options.SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make TAIKC's boundary-awareness set (KBAE) for a model: answer what it knows, decline the rest.

    Every question is asked without passages. A right answer (exact match) is to be given again when only
    certain answers are asked for; where it was wrong, the reply is to be RAG_REQUIRED. What is finished is
    kept when the run is stopped, and the same command goes on from there. OUT/boundary.jsonl is chat JSONL,
    for knowwhen train tune or another trainer; OUT/journal.jsonl holds the answers.
    """
    import json

    from knowwhen.interrupt import stopping_at_once
    from knowwhen.training.boundary import FILE, build_boundary

    with stopping_at_once(), skipping(skip_bad) as skipped, questions_done("asking") as report:
        summary = build_boundary(
            dataset,
            out,
            model=model,
            limit=limit,
            seed=seed,
            kind=kind,
            skipped=skipped,
            report=report,
        )
    show_failures(summary.failed, summary.first_failure)
    if summary.left_out:
        typer.echo(f"{summary.left_out:,} questions take more than one fact and were left out", err=True)
    if as_json:
        print(json.dumps({"boundary": str(out / FILE), **summary.as_json()}, ensure_ascii=False))
        return
    rows: dict[str, TurnCounts] = {
        "all": summary.all,
        "confident knowledge": summary.confident_knowledge,
        "knowledge gap": summary.knowledge_gap,
    }
    show_turns(out / FILE, rows, summary.unit)
