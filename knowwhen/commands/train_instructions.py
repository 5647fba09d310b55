"""`knowwhen train instructions`: what a teacher's right answers took, step by step."""

from pathlib import Path
from typing import Annotated

import typer

from knowwhen.commands import run_options
from knowwhen.commands.progress import questions_done
from knowwhen.commands.skipping import skipping
from knowwhen.commands.turn_table import show_failures, show_turns


def instructions(
    dataset: Annotated[
        str,
        typer.Option(
            help="A file of multi-hop questions in any form of docs/datasets.md, almanac:train, or hf:<name>."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(help="The teacher: openai:<name>, ollama:<name>, transformers:<folder or hub id>, …"),
    ],
    out: Annotated[Path, typer.Option(help="The set's folder; a stopped run goes on from what is there.")],
    corpus: Annotated[
        str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
    ] = "almanac",
    reranker: Annotated[
        str | None,
        typer.Option(help="Folder or hub id of a model that reorders passages, as intfloat/e5-base-v2."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many questions, drawn at random.")] = 2000,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of taikc, repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    kind: run_options.Kind = None,
    skip_bad: run_options.SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make TAIKC's instruction-following set (IF) with a teacher: its trees, readings and summaries.

    Every question is answered by taikc. Of those whose answer is right word for word (F1 = 1.0) the prompts
    and replies are kept, but for answers from the teacher's own knowledge. What is finished is kept when the
    run is stopped, and the same command goes on from there. OUT/instructions.jsonl is chat JSONL, for
    knowwhen train tune or another trainer; OUT/journal.jsonl holds every prompt and reply.
    """
    import json

    from knowwhen.interrupt import stopping_at_once
    from knowwhen.settings_text import read_settings
    from knowwhen.training.instructions import FILE, build_instructions

    with stopping_at_once(), skipping(skip_bad) as skipped, questions_done("solving") as report:
        summary = build_instructions(
            dataset,
            out,
            model=model,
            corpus=corpus,
            limit=limit,
            seed=seed,
            reranker=reranker,
            settings=read_settings(settings or ()),
            kind=kind,
            skipped=skipped,
            report=report,
        )
    show_failures(summary.failed, summary.first_failure)
    if as_json:
        print(json.dumps({"instructions": str(out / FILE), **summary.as_json()}, ensure_ascii=False))
        return
    rows = {
        "all": summary.all,
        "decomposition": summary.decomposition,
        "question answering": summary.question_answering,
        "summarisation": summary.summarisation,
    }
    show_turns(out / FILE, rows, summary.unit)
    print(f"{summary.right:,} of {summary.questions:,} questions right; {summary.model_calls:,} model calls")
