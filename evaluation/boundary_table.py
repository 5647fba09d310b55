"""A boundary report in tables, one a dataset: TAIKC's Table 4, with consistency and difference below."""

from collections.abc import Sequence

from knowwhen.evaluation.boundary import CONTAINS, BoundaryReport
from knowwhen.evaluation.boundary_figures import Boundary, Scores
from knowwhen.evaluation.intervals import Figure

NOTHING = "–"  # where there are no questions


def headings(report: BoundaryReport) -> tuple[str, ...]:
    """What the columns hold; the first names the row."""
    accuracy = CONTAINS if report.accuracy == CONTAINS else f"accuracy by {report.accuracy}"
    return ("", "number", "F1", "exact match", accuracy, "mean")


def rows(boundary: Boundary) -> list[tuple[str, ...]]:
    """The scores of one dataset."""
    return [
        ("Direct QA", *_cells(boundary.direct)),
        ("Confident QA", *_cells(boundary.confident)),
        ("Knowledge Gap", *_cells(boundary.knowledge_gap)),
        ("consistency", *_cells(boundary.consistency)),
        ("difference", *_cells(boundary.difference)),
    ]


def verdicts(boundary: Boundary) -> str:
    """How often it was right to decline or not to."""
    counts = boundary.verdicts
    return (
        f"Declines right: {_figure(boundary.declines_right)}; answered {counts.answered_right:,} right and "
        f"{counts.answered_wrong:,} wrong, declined {counts.declined_right:,} right and "
        f"{counts.declined_wrong:,} wrong."
    )


def as_markdown(report: BoundaryReport) -> str:
    """The report as a page of Markdown."""
    lines = [
        "# Knowledge boundary",
        "",
        f"Model: {report.model}. Seed: {report.seed}. Shares in [0, 1], with bootstrap intervals of 95 %.",
    ]
    for each in report.blocks:
        lines += ["", f"## {each.dataset}", "", _line(headings(report)), _line(["---"] + ["---:"] * 5)]
        lines += [*map(_line, rows(each)), "", verdicts(each)]
    return "\n".join(lines) + "\n"


def _cells(scores: Scores) -> tuple[str, ...]:
    mean = NOTHING if scores.mean is None else f"{scores.mean:.3f}"
    return (f"{scores.number:,}", *map(_figure, (scores.f1, scores.exact_match, scores.accuracy)), mean)


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return NOTHING
    interval = "" if figure.low is None else f" [{figure.low:.2f}, {figure.high:.2f}]"
    return f"{figure.value:.3f}{interval}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
