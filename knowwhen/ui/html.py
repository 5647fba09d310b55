"""What the page shows, as HTML: what others wrote stays text in it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from knowwhen.commands.ask import cost_line
from knowwhen.evaluation.report.html import SIGNS
from knowwhen.evaluation.report.questions import QuestionRead
from knowwhen.evaluation.report.summary import Summary
from knowwhen.evaluation.report.tables import (
    difference_tables,
    group_tables,
    how_it_was_run,
    methods_table,
    need_table,
    runs_table,
    score_table,
)
from knowwhen.evaluation.report.text import printable
from knowwhen.evaluation.report.tree import tree_of
from knowwhen.nodes.state import ROOT
from knowwhen.ui.run import Run
from knowwhen.ui.what_if.turn import Turn, Values, WhatIf

HERE = Path(__file__).parent
ROUTES = ("generate", "retrieve", "decompose", "confident", "direct")
STATES = {
    "loading": "Loading the model and the corpus …",
    "asking": "Asking …",
    "answered": "Answered.",
    "stopped": "Stopped. What was answered until then stands below.",
}


def status(run: Run) -> str:
    """Where a run is, or what it failed of, on one line."""
    return _render("status", state=run.state, text=run.error or STATES[run.state])


def stopped() -> str:
    """That a run was stopped."""
    return _render("status", state="stopped", text=STATES["stopped"])


def done(text: str) -> str:
    """That something was done."""
    return _render("status", state="answered", text=text)


def failed(error: Exception) -> str:
    """What something failed of, on one line."""
    return _render("status", state="failed", text=str(error))


def result(run: Run, title: str = "") -> str:
    """The answer, what it cost, and the tree."""
    return _render("result", run=run, title=title, output=run.output, tree=tree_of(list(run.rows.values())))


def what_if(gate: WhatIf, values: Values) -> str:
    """Which routes would change."""
    turns, zones = gate.turns(values), gate.zones(values)
    return _render(
        "what_if",
        turns=turns,
        told=_told(turns),
        zones=zones,
        low=zones[0].start,
        high=zones[-1].end,
        values=[(dial.label, values[dial.name]) for dial in gate.dials()],
    )


def compared(runs: Sequence[Run]) -> str:
    """Two runs in a table; empty until both have ended."""
    if any(run.state != "answered" for run in runs):
        return ""
    return _render("compared", runs=runs)


def tables(summary: Summary) -> str:
    """An evaluation's figures."""
    others = [*difference_tables(summary), need_table(summary), score_table(summary), *group_tables(summary)]
    return _render(
        "tables",
        how=how_it_was_run(summary, lambda name: f"“{name}”"),
        methods=methods_table(summary),
        others=[table for table in (*others, runs_table(summary)) if table is not None],
    )


def questions(read: Sequence[QuestionRead], at: int, total: int) -> str:
    """Some questions of an evaluation, each to be opened.

    Args:
        read: those shown.
        at: how many come before them.
        total: how many fit the filter.
    """
    return _render("questions", questions=read, at=at, total=total)


def _told(turns: Sequence[Turn]) -> str:
    """How many routes would change, in a sentence."""
    gated = [turn for turn in turns if turn.becomes != "no gate"]
    counts = {
        name: sum(turn.becomes == name for turn in gated) for name in ("changes", "unknown", "not asked")
    }
    parts = [f"{counts['changes']} of {len(gated)} routes would change"]
    parts += [f"{counts['unknown']} unknown"] if counts["unknown"] else []
    parts += [f"{counts['not asked']} would not be asked"] if counts["not asked"] else []
    return ", ".join(parts)


def _as_json(details: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {json.dumps(details[name], ensure_ascii=False)}" for name in sorted(details))


def _finalize(value: object) -> object:
    if value is None:
        return ""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


def _render(template: str, **values: Any) -> str:
    return ENVIRONMENT.get_template(f"{template}.html.jinja").render(**values)


ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_finalize
)
ENVIRONMENT.globals |= {
    "SIGNS": SIGNS,
    "ROUTES": ROUTES,
    "ROOT": ROOT,
    "cost_line": cost_line,
    "as_json": _as_json,
}
