"""What `evaluate` and `compare` do: build the methods, run them, report."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from knowwhen.commands.run_progress import scores_so_far

if TYPE_CHECKING:
    from knowwhen.evaluation.arms import Arm
    from knowwhen.evaluation.question_set import QuestionSet
    from knowwhen.evaluation.report import Written
    from knowwhen.evaluation.running import Ran
    from knowwhen.graphs import Method


@dataclass(frozen=True)
class Run:
    """What was asked for on the command line."""

    methods: Sequence[str]
    """`method` or `label=method`."""
    optional: Sequence[str]
    """Labels of those that take of the settings what they know."""
    dataset: str | None
    out: Path | None
    model: str
    corpus: str
    settings: Sequence[str]
    limit: int | None
    seed: int
    concurrency: int
    processes: int
    kind: str | None
    skip_bad: bool
    metrics: Sequence[str] | None
    judge: str | None
    retry_failed: bool
    record: Path | None
    replay: Path | None
    as_json: bool


def perform(asked: Run, command: str) -> None:
    """Run it, write its report and print its figures.

    Raises:
        SettingsError: something is missing, unknown or out of its range.
        KnowwhenError: the run cannot go on.
    """
    from knowwhen.evaluation.metric_names import METRICS, official
    from knowwhen.evaluation.question_set import QuestionSet
    from knowwhen.evaluation.report import write_report
    from knowwhen.evaluation.running import run
    from knowwhen.evaluation.scoring import Scorer
    from knowwhen.interrupt import stopping_at_once
    from knowwhen.models.errors import SettingsError

    if asked.dataset is None or asked.out is None:
        missing = "--dataset DATASET" if asked.dataset is None else "--out DIR"
        raise SettingsError(f"knowwhen {command} needs {missing}")
    if asked.record is not None and asked.replay is not None:
        raise SettingsError("--record asks the model and --replay does not; give one of the two")
    if asked.processes > 1 and (asked.record or asked.replay):
        raise SettingsError("--record and --replay go with one process; leave --processes out")
    own = [name for name in official(asked.kind or "") if name in METRICS]
    metrics = own if asked.metrics is None else asked.metrics
    with stopping_at_once(), _recorded_models(asked):
        scorer = Scorer(metrics, asked.judge, asked.concurrency)
        questions = QuestionSet(asked.dataset, asked.limit, asked.seed, asked.kind, asked.skip_bad)
        entries = _entries(asked)
        len(questions)  # finds bad records before anything is asked
        ran = []
        for each in entries:
            with each.asked_by(asked.processes) as arm, scores_so_far(arm.label) as watch:
                ran.append(
                    run(
                        arm,
                        questions,
                        asked.out,
                        scorer=scorer,
                        at_once=asked.concurrency,
                        retry_failed=asked.retry_failed,
                        record=asked.record,
                        replay=asked.replay,
                        watch=watch,
                    )
                )
        written = write_report(asked.out, seed=asked.seed)
    _tell(ran, questions)
    if written.missing:
        typer.echo(written.missing, err=True)
    if asked.as_json:
        _print_json(ran, written)
    else:
        _print_table(ran)
        print(written.html)


@dataclass(frozen=True)
class _Entry:
    """A method to be run, and how a process of its own builds it."""

    arm: "Arm"
    build: "Callable[[], Method]"

    @contextmanager
    def asked_by(self, processes: int) -> "Iterator[Arm]":
        """The method in this process, or in several others."""
        from knowwhen.evaluation.processes import in_processes

        if processes == 1:
            yield self.arm
            return
        with in_processes(self.build, processes) as method:
            yield replace(self.arm, method=method)


def _entries(asked: Run) -> list[_Entry]:
    from knowwhen.evaluation.arms import arm
    from knowwhen.graphs.building import build_method
    from knowwhen.method_settings import LOOKS_UP, known_to, shared_out
    from knowwhen.models.standing_in import noting_models

    named = dict(_named(asked.methods))
    settings = shared_out(asked.settings, named, asked.optional)
    entries = []
    for label, method in named.items():
        given = settings[label]
        built_with = {**given, "max_concurrency": math.ceil(asked.concurrency / asked.processes)}
        if asked.replay is not None:
            built_with.pop("reranker", None)  # what it does is in the recorded passages
        build = partial(build_method, method, asked.model, asked.corpus, built_with)
        with noting_models() as models:
            built = build()
        corpus = asked.corpus if LOOKS_UP in known_to(method) else ""
        known = arm(built, label, model=asked.model, corpus=corpus, more=_told(given), models=models)
        entries.append(_Entry(known, build))
    return entries


def _told(given: dict[str, Any]) -> dict[str, Any]:
    """What a method was built with; a file of thresholds is told by what it holds, as it may be replaced."""
    from knowwhen.models.fingerprint import fingerprint

    if "thresholds" not in given:
        return given
    file = Path(given["thresholds"])
    return {**given, "thresholds": f"{file.name} {fingerprint([file.read_bytes()])}"}


def _recorded_models(asked: Run) -> AbstractContextManager[None]:
    """While a recording is played, its models stand in for those that are named."""
    if asked.replay is None:
        return nullcontext()
    from knowwhen.evaluation.tapes import recorded_origin
    from knowwhen.models.standing_in import standing_in

    models = {}
    for label, _ in _named(asked.methods):
        models.update(recorded_origin(asked.replay / label).models)
    return standing_in(models, str(asked.replay))


def _named(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Each method with its label.

    Raises:
        SettingsError: there is none, or two have one label.
    """
    from knowwhen.models.errors import SettingsError

    found: dict[str, str] = {}
    for each in methods:
        label, equals, method = each.partition("=")
        if label in found:
            raise SettingsError(f"two methods are called {label}; give one another name, as in name={label}")
        found[label] = method if equals else label
    if not found:
        raise SettingsError("there is no method to run; give one or more")
    return list(found.items())


def _tell(ran: "Sequence[Ran]", questions: "QuestionSet") -> None:
    """Say on stderr what the figures do not: what was left out, and what failed."""
    if questions.skipped.count:
        typer.echo(str(questions.skipped), err=True)
    for each in ran:
        if each.tally.failed:
            typer.echo(
                f"{each.label}: {each.tally.failed:,} questions failed, the first was "
                f"{each.tally.first_failure}; ask them again with --retry-failed",
                err=True,
            )


def _print_json(ran: "Sequence[Ran]", written: "Written") -> None:
    import json

    runs: dict[str, Any] = {
        each.label: {
            "journal": str(each.folder),
            "questions": each.tally.total,
            "failed": each.tally.failed,
            "asked": each.tally.asked,
            "first_failure": each.tally.first_failure,
            "means": each.tally.means(),
        }
        for each in ran
    }
    reports = {"markdown": str(written.markdown), "html": str(written.html)}
    print(json.dumps({"runs": runs, **reports}, ensure_ascii=False))


def _print_table(ran: "Sequence[Ran]") -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("method", overflow="fold")
    for heading in ("questions", "EM", "F1", "retrievals", "calls", "tokens"):
        table.add_column(heading, justify="right")
    for each in ran:
        means = defaultdict(float, each.tally.means())
        tokens = means["input_tokens"] + means["output_tokens"]
        table.add_row(
            each.label,
            f"{each.tally.finished:,}",
            *(f"{means[name]:.3f}" for name in ("exact_match", "f1")),
            *(f"{means[name]:.2f}" for name in ("retrievals", "model_calls")),
            f"{tokens:,.0f}",
        )
    Console(highlight=False).print(table)
