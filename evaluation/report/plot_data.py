"""What the plots show, in rows: a CSV beside each figure."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from knowwhen.evaluation.figures.retrieval_need import BoundaryFigures, NeedFigures
from knowwhen.evaluation.figures.run_figures import RunFigures
from knowwhen.evaluation.figures.score_figures import ScoreFigures
from knowwhen.evaluation.intervals import Figure
from knowwhen.evaluation.report.headings import heading
from knowwhen.evaluation.report.summary import Summary
from knowwhen.evaluation.report.tables import score_sets

Kind = Literal["trade-off", "risk-coverage", "calibration", "needs", "routes"]
Row = dict[str, str | int | float | None]
DRAWN = "f1"  # of the metrics; the CSV holds all

OF = {
    "own answer": ("", "a method's score against its own answer"),
    "knowing": ("-of-knowing", "a method's score against the answer without retrieval"),
}


@dataclass(frozen=True)
class PlotData:
    """The data of a figure, and what is said of it."""

    name: str
    """Of its files, without the ending; also good for an id."""
    kind: Kind
    title: str
    rows: list[Row]
    methods: tuple[str, ...]
    """All of the report but the two references, so that each has its colour and its mark in all figures."""
    metric: str = ""
    """Which of the metrics in the rows is drawn."""
    across: str = ""
    """The column of the horizontal axis."""


def plot_data(summary: Summary) -> Iterator[PlotData]:
    """The data of every figure that there is something to show in."""
    metric = DRAWN if DRAWN in summary.metrics else summary.right
    methods = tuple(label for label in summary.origins if label not in (summary.never, summary.always))
    yield PlotData(
        "quality-retrievals",
        "trade-off",
        f"{heading(metric)} against retrievals a question",
        list(_against(summary, "retrievals", _retrievals)),
        methods,
        metric,
        "retrievals",
    )
    yield PlotData(
        "quality-tokens",
        "trade-off",
        f"{heading(metric)} against tokens a question, in and out",
        list(_against(summary, "tokens", _tokens)),
        methods,
        metric,
        "tokens",
    )
    for of, found in score_sets(summary):
        ending, about = OF[of]
        title = f"Risk and coverage: {about}"
        yield PlotData(f"risk-coverage{ending}", "risk-coverage", title, _risks(found), methods)
        confident = {label: each for label, each in found.items() if each.kind == "confidence"}
        if confident:
            title = f"Calibration: {about}"
            yield PlotData(f"calibration{ending}", "calibration", title, _reliability(confident), methods)
    yield from _needs(summary, methods)
    yield from _routes(summary, methods)


def file_name(label: str) -> str:
    """A label, with what a file system, an address or an id may take amiss as numbers."""
    return re.sub(r"[^A-Za-z0-9_.-]", lambda found: f"-{ord(found[0]):x}-", label)


def as_csv(rows: list[Row]) -> str:
    """Rows with the names of their columns above."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _retrievals(run: RunFigures) -> Figure | None:
    return run.cost.retrievals.mean if run.cost else None


def _tokens(run: RunFigures) -> Figure | None:
    """Without an interval: those of the tokens in and out do not add up."""
    if run.cost is None:
        return None
    total = run.cost.input_tokens.mean.value + run.cost.output_tokens.mean.value
    return Figure(value=total, low=None, high=None)


def _against(summary: Summary, cost: str, of: Callable[[RunFigures], Figure | None]) -> Iterator[Row]:
    for label, run in summary.comparison.runs.items():
        paid = of(run)
        if paid is None:
            continue
        reference = {summary.never: "never", summary.always: "always"}.get(label, "")
        for metric, quality in run.quality.items():
            yield {
                "method": label,
                "reference": reference,
                "metric": metric,
                "quality": quality.value,
                "quality_low": quality.low,
                "quality_high": quality.high,
                cost: paid.value,
                f"{cost}_low": paid.low,
                f"{cost}_high": paid.high,
            }


def _risks(found: dict[str, ScoreFigures]) -> list[Row]:
    return [
        {"method": label, "coverage": at.coverage, "risk": at.risk, "threshold": at.threshold}
        for label, scores in found.items()
        for at in scores.curve
    ]


def _reliability(found: dict[str, ScoreFigures]) -> list[Row]:
    return [
        {
            "method": label,
            "low": each.low,
            "high": each.high,
            "questions": each.number,
            "confidence": each.confidence,
            "right": each.right,
        }
        for label, scores in found.items()
        for each in scores.reliability
    ]


def _needs(summary: Summary, methods: tuple[str, ...]) -> Iterator[PlotData]:
    """A figure if the reference runs tell the need, and the dataset hops or kinds."""
    compared = summary.comparison
    across = "hops" if compared.need_by_hops else "kind"
    groups = [
        (each.name, each.need, each.boundary) for each in compared.need_by_hops or compared.need_by_kind
    ]
    if compared.need is None or not groups:
        return
    groups.append(("all", compared.need, compared.boundary))
    yield PlotData(
        f"need-by-{across}",
        "needs",
        f"Whether retrieval is needed, by {'hops' if across == 'hops' else 'kind of question'}",
        [row for name, need, boundary in groups for row in _need_rows({across: name}, need, boundary)],
        methods,
        across=across,
    )


def _need_rows(group: Row, found: NeedFigures, boundary: dict[str, BoundaryFigures]) -> Iterator[Row]:
    for need, share in found.shares.items():
        chosen = {label: each.by_need[need] for label, each in boundary.items()}
        yield {
            **group,
            "need": need,
            "questions": sum(found.questions.values()),
            "share": share.value,
            "share_low": share.low,
            "share_high": share.high,
            **{f"{label}_retrieved": each.retrieved for label, each in chosen.items()},
            **{f"{label}_right": each.right for label, each in chosen.items()},
        }


def _routes(summary: Summary, methods: tuple[str, ...]) -> Iterator[PlotData]:
    """A figure for each method that takes more routes than one."""
    for label, run in summary.comparison.runs.items():
        groups = [(each.name, each.questions, each.routes) for each in run.by_hops or run.by_kind]
        if run.routes is not None:
            groups.append(("all", run.questions - run.failed, run.routes))
        if run.routes is None or sum(share > 0 for share in run.routes.steps.values()) < 2:
            continue
        by = "hops" if run.by_hops else "kind of question"
        yield PlotData(
            f"routes-{file_name(label)}",
            "routes",
            f"{label}: shares of the routes of all (sub-)questions by {by}",
            [
                {
                    "hops" if run.by_hops else "kind": name,
                    "route": route,
                    "questions": questions,
                    "share_of_steps": share,
                    "share_of_questions": routes.questions[route],
                    "steps_a_question": routes.steps_a_question,
                }
                for name, questions, routes in groups
                for route, share in routes.steps.items()
            ],
            methods,
            across="hops" if run.by_hops else "kind",
        )
