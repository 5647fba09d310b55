"""`knowwhen evaluate --method M`: a method on a dataset, beside the two that always and never retrieve."""

from pathlib import Path
from typing import Annotated

import typer

from knowwhen.commands import run_options
from knowwhen.commands.runs import Run, perform

REFERENCES = ("direct", "retrieve_then_read")


def evaluate(
    context: typer.Context,
    dataset: run_options.Dataset = None,
    out: run_options.Out = None,
    method: Annotated[str, typer.Option(help="How to answer: self_dc, keqa, seakr, taikc, …")] = "self_dc",
    model: run_options.Model = "pocket",
    corpus: run_options.Corpus = "almanac",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, repeatable."),
    ] = None,
    thresholds: Annotated[
        Path | None, typer.Option(help="A file of knowwhen calibrate.", show_default="the method's own")
    ] = None,
    references: Annotated[
        bool,
        typer.Option(
            " /--no-references",
            help="Leave out direct and retrieve_then_read, without which nobody knows whether retrieval was "
            "needed.",
            show_default=False,
        ),
    ] = True,
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
    """Measure a method on questions with known answers: how good it is, and what it costs.

    Every question is written down with its whole trace as soon as it is done; stopped at any moment, the same
    command goes on. Docs: docs/evaluate.md.
    """
    if context.invoked_subcommand is not None:
        return
    calibrated = [] if thresholds is None else [f"{method}.thresholds={thresholds}"]
    others = [name for name in REFERENCES if references and name != method]
    perform(
        Run(
            methods=[method, *others],
            optional=others,
            dataset=dataset,
            out=out,
            model=model,
            corpus=corpus,
            settings=[*(settings or []), *calibrated],
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
        "evaluate",
    )
