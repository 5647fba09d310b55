"""What the page shows, as HTML: what others wrote stays text in it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

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
from knowwhen.evaluation.report.tree import Branch, tree_of
from knowwhen.in_words import cost_line
from knowwhen.nodes.state import ROOT
from knowwhen.tools.printable import printable
from knowwhen.ui.request import names_of
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


def status(*runs: Run) -> str:
    """Where runs are, or what they failed of: one line of all that are at the same, or one of each."""
    told = [(run.state, run.error or STATES[run.state]) for run in runs]
    lines = dict.fromkeys(told)
    if len(lines) == 1:
        return _render("status", lines=lines)
    names = names_of([run.request for run in runs])
    return _render(
        "status", lines=[(state, f"{name}: {text}") for name, (state, text) in zip(names, told, strict=True)]
    )


def done(text: str) -> str:
    """That something was done."""
    return _render("status", lines=[("answered", text)])


def failed(error: Exception) -> str:
    """What something failed of, on one line."""
    return _render("status", lines=[("failed", str(error))])


def result(run: Run) -> str:
    """The question, the answer, what it cost, and the tree."""
    return _render("result", run=run, asked=run.request.question, tree=_tree(run))


def column(run: Run, name: str) -> str:
    """The same beside another run's, under a name of its own; nothing of a run that came to nothing."""
    return _render("result", run=run, title=name, tree=_tree(run)) if run.rows else ""


def told(gate: WhatIf, values: Values) -> str:
    """How many routes would change, in a sentence."""
    moved = ", ".join(f"{dial.label} = {values[dial.name]:g}" for dial in gate.dials())
    return _render("told", told=_counted(gate.turns(values)), moved=moved, sampled=gate.sampled)


def what_if(gate: WhatIf, values: Values) -> str:
    """Which routes would change."""
    turns, zones = gate.turns(values), gate.zones(values)
    return _render("what_if", turns=turns, zones=zones, low=zones[0].start, high=zones[-1].end)


def compared(runs: Sequence[Run]) -> str:
    """The question, and two runs in a table once both were answered."""
    names, answered = names_of([run.request for run in runs]), all(run.state == "answered" for run in runs)
    return _render("compared", asked=runs[0].request.question, runs=runs if answered else (), names=names)


def tables(summary: Summary) -> str:
    """An evaluation's figures."""
    others = [*difference_tables(summary), need_table(summary), score_table(summary), *group_tables(summary)]
    return _render(
        "tables",
        how=how_it_was_run(summary, lambda name: f"“{name}”"),
        methods=methods_table(summary),
        others=[table for table in (*others, runs_table(summary)) if table is not None],
    )


def questions(read: Sequence[QuestionRead], folder: int) -> str:
    """Some questions of an evaluation, each to be opened.

    Args:
        read: those shown.
        folder: the evaluation's number in this process, so that no two steps have one name.
    """
    return _render("questions", questions=read, folder=folder)


def shown(at: int, count: int, total: int) -> str:
    """Which of the questions that fit are shown."""
    return _render("shown", at=at, count=count, total=total)


def _counted(turns: Sequence[Turn]) -> str:
    """How many routes would change, in a sentence."""
    gated = [turn for turn in turns if turn.becomes != "no gate"]
    counts = {
        name: sum(turn.becomes == name for turn in gated) for name in ("changes", "unknown", "not asked")
    }
    parts = [f"{counts['changes']} of {len(gated)} routes would change"]
    parts += [f"{counts['unknown']} unknown"] if counts["unknown"] else []
    parts += [f"{counts['not asked']} would not be asked"] if counts["not asked"] else []
    return ", ".join(parts)


def _tree(run: Run) -> list[Branch]:
    return tree_of(list(run.rows.values()))


def _detail(value: Any) -> str:
    """What a method saw, one to a line if there are several."""
    if isinstance(value, list) and value and all(isinstance(each, (str, int, float)) for each in value):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    "detail": _detail,
}
