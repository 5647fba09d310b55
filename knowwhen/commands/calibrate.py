"""`knowwhen calibrate`: a gate's thresholds for the user's own model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from knowwhen.commands.progress import questions_done
from knowwhen.commands.turn_table import show_failures

if TYPE_CHECKING:
    from knowwhen.evaluation.calibration.calibrate import Calibration
    from knowwhen.evaluation.calibration.recording import Recording
    from knowwhen.evaluation.intervals import Figure
    from knowwhen.uncertainty.score import Kind

app = typer.Typer(invoke_without_command=True)


@app.callback()
def calibrate(
    context: typer.Context,
    method: Annotated[str, typer.Option(help="Whose gate: self_dc, keqa, seakr or taikc.")] = "self_dc",
    estimator: Annotated[
        str | None,
        typer.Option(
            help="Whose scores it goes by: probability, gram, …",
            show_default="the only one recorded, or the method's own",
        ),
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="Calibrate on recorded outcomes, without asking a model.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="pocket, transformers:<folder or hub id>, openai:<name>, …; of records, their model."
        ),
    ] = None,
    max_retrievals: Annotated[
        float | None, typer.Option(min=0, help="A question on average, at most.")
    ] = None,
    retrieval_price: Annotated[
        float, typer.Option(min=0, help="Quality that a retrieval must bring: 0.05 is five points.")
    ] = 0.0,
    token_price: Annotated[float, typer.Option(min=0, help="Quality that 1,000 tokens must bring.")] = 0.0,
    dataset: Annotated[
        str | None,
        typer.Option(help="Questions with answers to ask the model: a file, almanac:calibration, …"),
    ] = None,
    corpus: Annotated[
        str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
    ] = "almanac",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option(min=2, help="How many questions, drawn at random.")] = 500,
    metric: Annotated[str, typer.Option(help="Of the answers: exact_match, f1, contains, …")] = "f1",
    two_stages: Annotated[
        bool, typer.Option("--two-stages", help="Self-DC: α at β = 0.1 first, then β, as the paper does.")
    ] = False,
    kind: Annotated[
        str | None,
        typer.Option(help="confidence or uncertainty, for recorded scores that knowwhen does not know."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(help="Of the draw, the folds and the intervals.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="The thresholds file; the curve and its plot lie beside it.", show_default="none"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the thresholds of a method's gate that suit your model and what you are ready to spend.

    The file that it writes is for --thresholds of ask. Docs: docs/calibrate.md.
    """
    if context.invoked_subcommand:
        return
    from knowwhen.evaluation.calibration.budget import Budget
    from knowwhen.evaluation.calibration.calibrate import calibrate_records
    from knowwhen.evaluation.calibration.records import read_records
    from knowwhen.models.errors import SettingsError
    from knowwhen.uncertainty.thresholds import OfModel

    if kind not in (None, "confidence", "uncertainty"):
        raise SettingsError(f"--kind is confidence or uncertainty, not {kind!r}")
    if (records is None) == (dataset is None):
        raise SettingsError("give either --dataset to ask a model, or --records of answers that are there")
    if out is None and dataset is not None:
        raise SettingsError("--dataset needs --out: what the model says is kept beside it")
    if out is not None and records is not None and model is None:
        raise SettingsError("thresholds belong to a model; name that of the records with --model")
    budget = Budget(max_retrievals=max_retrievals, retrieval_price=retrieval_price, token_price=token_price)
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
        if recording:
            recorder = recording.recorder
            content = found.thresholds(
                recording.model,
                recording.prompts,
                str(dataset),
                recorder.settings,
                recorder.estimator_settings,
            )
        else:
            content = found.thresholds(OfModel(name=str(model)), dataset=cast(Path, records).name)
        content.save(out)
        _write_curve(found, out)
    _print(found, as_json)


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


def _print(found: "Calibration", as_json: bool) -> None:
    """Print what was found on stdout: a table and the verdict, or one JSON object."""
    import json
    from dataclasses import asdict

    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    inner = found.found
    never, always = found.replay.never, found.replay.always
    if as_json:
        print(
            json.dumps(
                {
                    "method": found.method,
                    "estimator": found.gauge.estimator,
                    "metric": found.metric,
                    "budget": found.budget.model_dump(exclude_none=True),
                    "questions": len(never.quality),
                    "thresholds": inner.thresholds,
                    "expected": inner.expected.model_dump(),
                    "gain": inner.gain.model_dump(),
                    "never": {name: float(each.mean()) for name, each in asdict(never).items()},
                    "always": {name: float(each.mean()) for name, each in asdict(always).items()},
                    "verdict": found.verdict,
                }
            )
        )
        return
    screen = Console(highlight=False)
    told = ", ".join(f"{name} {value:.6g}" for name, value in inner.thresholds.items())
    screen.print(f"{found.method} by {found.gauge.estimator}, {found.budget}: {told}", markup=False)
    table = Table("", found.metric, "retrievals", "tokens", box=SIMPLE, pad_edge=False)
    for name, outcomes in (("never retrieving", never), ("always retrieving", always)):
        table.add_row(
            name,
            *(
                f"{each.mean():.{places}f}"
                for each, places in ((outcomes.quality, 3), (outcomes.retrievals, 2), (outcomes.tokens, 0))
            ),
        )
    quality, retrievals, tokens = inner.seen
    table.add_row("these thresholds", f"{quality:.3f}", f"{retrievals:.2f}", f"{tokens:.0f}")
    expected = inner.expected
    table.add_row(
        "on held-out questions",
        _cell(expected.quality, 3),
        _cell(expected.retrievals, 2),
        _cell(expected.tokens, 0),
    )
    screen.print(table)
    screen.print(found.verdict, markup=False)


def _cell(figure: "Figure", places: int) -> str:
    if figure.low is None or figure.high is None:
        return f"{figure.value:.{places}f}"
    return f"{figure.value:.{places}f}\n[{figure.low:.{places}f},{figure.high:.{places}f}]"
