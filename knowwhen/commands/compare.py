"""`knowwhen compare`: several methods on the same questions."""

from typing import Annotated

import typer

from knowwhen.commands import run_options
from knowwhen.commands.runs import Run, perform


def compare(
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, with commas between them: direct,retrieve_then_read,self_dc. One may come twice "
            "under names of its own: plain=self_dc,tuned=self_dc."
        ),
    ],
    dataset: run_options.Dataset = None,
    out: run_options.Out = None,
    model: run_options.Model = "pocket",
    corpus: run_options.Corpus = "almanac",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[METHOD.]NAME=VALUE",
            help="A setting of one method, or of all that have it; repeatable.",
        ),
    ] = None,
    limit: run_options.Limit = None,
    seed: run_options.Seed = 0,
    concurrency: run_options.Concurrency = 16,
    processes: run_options.Processes = 1,
    kind: run_options.Kind = None,
    skip_bad: run_options.SkipBad = False,
    metric: run_options.Metric = None,
    judge: run_options.Judge = None,
    retry_failed: run_options.RetryFailed = False,
    record: run_options.Record = None,
    replay: run_options.Replay = None,
    as_json: run_options.AsJson = False,
) -> None:
    """Measure several methods on the same questions with known answers.

    Every question is written down with its whole trace as soon as it is done; stopped at any moment, the same
    command goes on. Docs: docs/evaluate.md.
    """
    perform(
        Run(
            methods=[name.strip() for name in methods.split(",") if name.strip()],
            optional=[],
            dataset=dataset,
            out=out,
            model=model,
            corpus=corpus,
            settings=settings or [],
            limit=limit,
            seed=seed,
            concurrency=concurrency,
            processes=processes,
            kind=kind,
            skip_bad=skip_bad,
            metrics=metric,
            judge=judge,
            retry_failed=retry_failed,
            record=record,
            replay=replay,
            as_json=as_json,
        ),
        "compare",
    )
