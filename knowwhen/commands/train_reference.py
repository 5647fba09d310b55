"""`knowwhen train reference`: label retrieved passages by what they do to answers, for KEQA."""

from pathlib import Path
from typing import Annotated

import typer

from knowwhen.commands import run_options
from knowwhen.commands.progress import questions_done
from knowwhen.commands.skipping import skipping
from knowwhen.commands.turn_table import show_failures


def reference(
    dataset: Annotated[
        str,
        typer.Option(
            help="A file of questions in any form of docs/datasets.md, almanac (its train split), or "
            "hf:<name>; not the questions KEQA is measured on."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The set's folder; a stopped run goes on from what is there.")],
    model: Annotated[
        str, typer.Option(help="pocket, transformers:<folder or hub id>, openai:<name>, ollama:<name>, …")
    ] = "pocket",
    corpus: Annotated[
        str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
    ] = "almanac",
    limit: Annotated[int, typer.Option(min=1, help="How many questions, drawn at random.")] = 500,
    passages: Annotated[int, typer.Option(min=1, help="How many passages of each question.")] = 5,
    encoder: Annotated[
        str,
        typer.Option(
            help="What finds like passages: letters, which works offline, or the folder or hub id of a "
            "sentence-transformers model, which is better for a real corpus."
        ),
    ] = "letters",
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    kind: run_options.Kind = None,
    skip_bad: run_options.SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Label passages as helpful or harmful to the model's answers: the demonstrations of KEQA.

    Every question is asked without passages and then with each one more. What is finished is kept when the
    run is stopped, and the same command goes on from there. OUT/journal.jsonl holds all labels with the two
    answers that each came from; OUT/reference.jsonl those that are shown.
    """
    import json

    from knowwhen.interrupt import stopping_at_once
    from knowwhen.tools.labelled import LEAST
    from knowwhen.training.reference import build_reference

    with stopping_at_once(), skipping(skip_bad) as skipped, questions_done("labelling") as report:
        summary = build_reference(
            dataset,
            out,
            model=model,
            corpus=corpus,
            limit=limit,
            passages=passages,
            encoder=encoder,
            seed=seed,
            kind=kind,
            skipped=skipped,
            report=report,
        )
    show_failures(summary.failed, summary.first_failure)
    if min(summary.helpful, summary.harmful) < LEAST:
        typer.echo(
            f"KEQA shows at least {LEAST} helpful and {LEAST} harmful passages, and there are "
            f"{summary.helpful} and {summary.harmful}; raise --limit",
            err=True,
        )
    if as_json:
        print(json.dumps({"reference": str(out), **summary.as_json()}, ensure_ascii=False))
    else:
        print(
            f"{out}: {summary.helpful:,} helpful, {summary.harmful:,} harmful, {summary.neutral:,} neutral; "
            f"{summary.questions:,} questions, {summary.model_calls:,} model calls"
        )
