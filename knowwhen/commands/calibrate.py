"""`knowwhen calibrate`: a gate's thresholds for the user's own model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from knowwhen.commands import calibrate_options as options
from knowwhen.commands.progress import questions_done
from knowwhen.commands.turn_table import show_failures

if TYPE_CHECKING:
    from knowwhen.evaluation.calibration.calibrate import Calibration
    from knowwhen.evaluation.calibration.recording import Recording
    from knowwhen.uncertainty.score import Kind

app = typer.Typer(invoke_without_command=True)


@app.callback()
def calibrate(
    context: typer.Context,
    method: options.Method = "self_dc",
    estimator: options.Estimator = None,
    records: options.Records = None,
    model: options.Model = None,
    retrievals: options.Retrievals = None,
    max_retrievals: options.MaxRetrievals = None,
    retrieval_price: options.RetrievalPrice = 0.0,
    token_price: options.TokenPrice = 0.0,
    dataset: options.Dataset = None,
    corpus: options.Corpus = "almanac",
    settings: options.Settings = None,
    limit: options.Limit = 500,
    metric: options.Metric = "f1",
    two_stages: options.TwoStages = False,
    kind: options.OfKind = None,
    folds: options.Folds = 5,
    seed: options.Seed = 0,
    out: options.Out = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the thresholds of a method's gate that suit your model and what you are ready to spend.

    The file that it writes is for --thresholds of ask. Docs: docs/calibrate.md.
    """
    if context.invoked_subcommand:
        return
    from knowwhen.commands.calibration_table import show_calibration
    from knowwhen.evaluation.calibration.budget import Budget
    from knowwhen.evaluation.calibration.calibrate import calibrate_records
    from knowwhen.evaluation.calibration.records import read_records
    from knowwhen.models.errors import SettingsError

    _check(dataset, records, model, out, kind)
    if retrievals is not None and max_retrievals is not None:
        raise SettingsError("--retrievals is a target and --max-retrievals a bound; give one of them")
    budget = Budget(
        retrievals=retrievals,
        max_retrievals=max_retrievals,
        retrieval_price=retrieval_price,
        token_price=token_price,
    )
    recording = None
    if dataset is not None and out is not None:
        recording = _record(dataset, method, out, model or "pocket", corpus, estimator, settings, limit, seed)
        estimator = recording.recorder.estimator
    found = calibrate_records(
        recording.records if recording else list(read_records(cast(Path, records))),
        method,
        budget,
        estimator=estimator,
        kind=cast("Kind | None", kind),
        metric=metric,
        two_stages=two_stages,
        folds=folds,
        seed=seed,
    )
    if out is not None:
        _save(found, out, recording, dataset or cast(Path, records).name, model)
    show_calibration(found, as_json)


def _check(
    dataset: str | None, records: Path | None, model: str | None, out: Path | None, kind: str | None
) -> None:
    from knowwhen.models.errors import SettingsError

    if kind not in (None, "confidence", "uncertainty"):
        raise SettingsError(f"--kind is confidence or uncertainty, not {kind!r}")
    if (records is None) == (dataset is None):
        raise SettingsError("give either --dataset to ask a model, or --records of answers that are there")
    if out is None and dataset is not None:
        raise SettingsError("--dataset needs --out: what the model says is kept beside it")
    if out is not None and records is not None and model is None:
        raise SettingsError("thresholds belong to a model; name that of the records with --model")


def _save(
    found: "Calibration", out: Path, recording: "Recording | None", dataset: str, model: str | None
) -> None:
    """Write the thresholds file, the curve and its plot."""
    from knowwhen.uncertainty.thresholds import OfModel

    if recording:
        recorder = recording.recorder
        content = found.thresholds(
            recording.model, recording.prompts, dataset, recorder.settings, recorder.estimator_settings
        )
    else:
        content = found.thresholds(OfModel(name=str(model)), dataset=dataset)
    content.save(out)
    _write_curve(found, out)


def _record(
    dataset: str,
    method: str,
    out: Path,
    model: str,
    corpus: str,
    estimator: str | None,
    settings: list[str] | None,
    limit: int,
    seed: int,
) -> "Recording":
    """Ask the model, and say on stderr what was left out."""
    from knowwhen.evaluation.calibration.recording import record_dataset
    from knowwhen.interrupt import stopping_at_once
    from knowwhen.settings_text import read_settings

    with stopping_at_once(), questions_done("recording") as report:
        recording = record_dataset(
            dataset,
            method,
            out.with_suffix(".records"),
            model=model,
            corpus=corpus,
            estimator=estimator,
            settings=read_settings(settings or ()),
            limit=limit,
            seed=seed,
            report=report,
        )
    if recording.left_out:
        typer.echo(f"{recording.left_out:,} questions take more than one fact and are left out", err=True)
    show_failures(len(recording.failures), recording.failures[0] if recording.failures else "")
    return recording


@app.command()
def convert(
    recording: Annotated[
        Literal["probtree", "seakr"], typer.Argument(help="Whose published run: ProbTree's or SeaKR's.")
    ],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="probtree: the file of trees; seakr: direct answers, answers from passages, gold answers.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The file of records to write.")],
    gold: Annotated[
        str | None,
        typer.Option(help="probtree: a dataset that has the gold answers.", show_default="none"),
    ] = None,
) -> None:
    """Make a published run a file of records, for --records."""
    from knowwhen.evaluation.calibration.recordings.probtree import probtree_records
    from knowwhen.evaluation.calibration.recordings.seakr import seakr_records
    from knowwhen.evaluation.calibration.records import write_records
    from knowwhen.evaluation.datasets import read_dataset
    from knowwhen.models.errors import SettingsError

    if recording == "probtree":
        if len(files) != 1 or gold is None:
            raise SettingsError("probtree takes one file, and --gold DATASET")
        written = write_records(probtree_records(files[0], read_dataset(gold)), out)
    else:
        if len(files) != 3 or gold is not None:
            raise SettingsError("seakr takes three files: direct answers, those from passages, gold answers")
        written = write_records(seakr_records(*files), out)
    print(f"{out}: {written:,} records")


def _write_curve(found: "Calibration", out: Path) -> None:
    from knowwhen.evaluation.calibration.calibrate import PLOT

    found.write_curve(out)
    try:
        from knowwhen.evaluation.calibration.trade_off_plot import plot_trade_off
    except ModuleNotFoundError:
        typer.echo("there is no plot without matplotlib; pip install 'knowwhen[training]'", err=True)
    else:
        title = f"{found.method} by {found.gauge.estimator}"
        plot_trade_off(found.replay, found.found, found.metric, title, out.with_suffix(PLOT))
