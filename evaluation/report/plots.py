"""The report's plots as SVG: the same data give the same bytes."""

import io
from collections.abc import Mapping
from typing import Any

import matplotlib  # of the extra `report`
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from knowwhen.evaluation.report.headings import heading
from knowwhen.evaluation.report.plot_data import Kind, PlotData, Row
from knowwhen.tools.printable import printable

STYLE = {
    "svg.fonttype": "none",  # text that can be read, marked and searched
    "svg.hashsalt": "knowwhen",
    "text.parse_math": False,  # a dataset's names are no formulas
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#80808055",
    "legend.frameon": False,
    "legend.fontsize": "small",
    "font.size": 10,
}
SIZE = (4.8, 3.9)  # inches; a phone shows it almost whole
PAPER = "paper"  # the id of the background, which the page leaves out
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a6761d")
MARKERS = "osD^vPX*"
REFERENCE = "#808080"
REFERENCES = {"never": "<", "always": ">"}  # by which end of the axis they are at
WIDE = 20  # times the least cost; from there on the axis is logarithmic
ROUTES = {
    "generate": "#009e73",
    "retrieve": "#e69f00",
    "decompose": "#56b4e9",
    "confident": "#0072b2",
    "direct": "#999999",
}
NEEDS = {"needed": "#e69f00", "unneeded": "#009e73", "harmful": "#d55e00", "neither": "#999999"}


def draw(data: PlotData) -> bytes:
    """A figure as SVG."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=SIZE, layout="constrained")
        figure.patch.set_gid(PAPER)
        axes = figure.subplots()
        axes.patch.set_visible(False)
        DRAWINGS[data.kind](axes, data)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside lower center", ncols=2)
        found = io.BytesIO()
        figure.savefig(found, format="svg", metadata={"Date": None, "Creator": None})
    return found.getvalue()


def _trade_off(axes: Any, data: PlotData) -> None:
    rows = [row for row in data.rows if row["metric"] == data.metric]
    references = {row["reference"]: row for row in rows if row["reference"]}
    if len(references) == 2:
        ends = [(float(row[data.across] or 0), float(row["quality"] or 0)) for row in references.values()]
        (cheap, low), (dear, high) = ends
        across, up = np.linspace(cheap, dear), np.linspace(low, high)  # no line on a logarithmic axis
        axes.plot(across, up, "--", color=REFERENCE, linewidth=1)  # chance between the two
    for row in rows:
        color, marker = _look(data, row["method"])
        axes.errorbar(
            row[data.across],
            row["quality"],
            xerr=_reach(row, data.across),
            yerr=_reach(row, "quality"),
            fmt=REFERENCES.get(str(row["reference"]), marker),
            color=color,
            capsize=3,
            label=f"{row['method']}, {row['reference']}" if row["reference"] else row["method"],
        )
    axes.set(xlabel=f"{data.across} a question", ylabel=heading(data.metric))
    paid = [float(row[data.across] or 0) for row in rows]
    if max(paid) > WIDE * min(paid) > 0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda cost, _: f"{cost / 1000:g}k" if cost >= 1000 else f"{cost:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))


def _risk_coverage(axes: Any, data: PlotData) -> None:
    for label, rows in _by_method(data).items():
        color, _ = _look(data, label)
        marker = "." if len(rows) < 20 else ""
        across, up = [row["coverage"] for row in rows], [row["risk"] for row in rows]
        axes.plot(across, up, marker=marker, color=color, label=label)
    axes.set(xlabel="coverage: share that is sure", ylabel="risk: share of these that is wrong")
    axes.set(xlim=(0, 1.02), ylim=(-0.02, 1.02))


def _calibration(axes: Any, data: PlotData) -> None:
    axes.plot((0, 1), (0, 1), "--", color=REFERENCE, linewidth=1)
    for label, rows in _by_method(data).items():
        filled = [row for row in rows if row["questions"]]
        most = max(int(row["questions"] or 0) for row in filled)
        across, up = [row["confidence"] for row in filled], [row["right"] for row in filled]
        color, marker = _look(data, label)
        axes.plot(across, up, marker=marker, markersize=4, color=color, label=label)
        sizes = [10 + 150 * int(row["questions"] or 0) / most for row in filled]
        axes.scatter(across, up, s=sizes, color=color, alpha=0.25, linewidths=0)
    axes.set(xlabel="confidence", ylabel="share that is right", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))


def _needs(axes: Any, data: PlotData) -> None:
    _stacked(axes, data, "need", "share", NEEDS)
    axes.set(ylabel="share of questions")


def _routes(axes: Any, data: PlotData) -> None:
    _stacked(axes, data, "route", "share_of_steps", ROUTES)
    axes.set(ylabel="share of steps")


def _stacked(axes: Any, data: PlotData, part: str, share: str, colors: Mapping[str, str]) -> None:
    """A bar for each group, whose parts sum to 1."""
    names = list(dict.fromkeys(row[data.across] for row in data.rows))
    shown = [_short(f"{name}\n({_questions(data, name):,})") for name in names]
    bottom = [0.0] * len(names)
    for name, color in colors.items():
        shares = [float(row[share] or 0) for row in data.rows if row[part] == name]
        if any(shares):
            axes.bar(range(len(names)), shares, 0.7, bottom=bottom, color=color, label=name)
            bottom = [below + share for below, share in zip(bottom, shares, strict=True)]
    axes.set_xticks(range(len(names)), shown, rotation=90 if len(names) > 6 else 0)
    axes.set(xlabel=f"{data.across} (questions)", ylim=(0, 1.0))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.grid(axis="x", visible=False)


DRAWINGS: Mapping[Kind, Any] = {
    "trade-off": _trade_off,
    "risk-coverage": _risk_coverage,
    "calibration": _calibration,
    "needs": _needs,
    "routes": _routes,
}


def _look(data: PlotData, label: object) -> tuple[str, str]:
    """A method's colour and mark; where colours come again, they come with other marks."""
    if label not in data.methods:
        return REFERENCE, "."
    place = data.methods.index(str(label))
    return COLORS[place % len(COLORS)], MARKERS[(place + place // len(COLORS)) % len(MARKERS)]


def _by_method(data: PlotData) -> dict[str, list[Row]]:
    return {
        str(label): [row for row in data.rows if row["method"] == label]
        for label in dict.fromkeys(row["method"] for row in data.rows)
    }


def _reach(row: Row, name: str) -> list[list[float]] | None:
    """How far the interval goes below and above."""
    value, low, high = (row[each] for each in (name, f"{name}_low", f"{name}_high"))
    if value is None or low is None or high is None:
        return None
    return [[max(0.0, float(value) - float(low))], [max(0.0, float(high) - float(value))]]


def _questions(data: PlotData, name: object) -> int:
    return next(int(row["questions"] or 0) for row in data.rows if row[data.across] == name)


def _short(text: str, most: int = 24) -> str:
    name, _, number = printable(text).rpartition("\n")
    name = " ".join(name.split())
    return f"{name[:most]}…\n{number}" if len(name) > most else f"{name}\n{number}"
