"""The report as a page of Markdown."""

import re
from collections.abc import Iterable, Sequence

from knowwhen.evaluation.report.summary import Summary
from knowwhen.evaluation.report.tables import (
    Cell,
    Table,
    difference_tables,
    group_tables,
    how_it_was_run,
    methods_table,
    need_table,
    runs_table,
    score_table,
)
from knowwhen.tools.printable import printable

SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&$@]|:(?=//))")  # also what GitHub takes for a person or a link


def as_markdown(summary: Summary, plots: Sequence[tuple[str, str]], missing: str = "") -> str:
    """The report without the single questions.

    Args:
        summary: of the runs.
        plots: title and file of each.
        missing: what the report lacks.
    """
    need, scores = need_table(summary), score_table(summary)
    tables = [
        methods_table(summary),
        *difference_tables(summary),
        *([need] if need else []),
        *([scores] if scores else []),
        *group_tables(summary),
        runs_table(summary),
    ]
    lines = ["# Evaluation", "", how_it_was_run(summary, code), ""]
    lines += ["Every question with its answers is in [report.html](report.html).", ""]
    for place, table in enumerate(tables):
        lines += [f"## {escape(table.title)}", "", *([table.about, ""] if table.about else [])]
        lines += [*_rows(table), ""]
        if place == 0:
            for title, file in plots:
                lines += [f"![{escape(title)}]({file})", ""]
            lines += [missing, ""] if missing else []
    return "\n".join(lines)


def escape(text: str) -> str:
    """Text of others that Markdown takes for nothing else, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))


def code(text: str) -> str:
    """The same as code."""
    line = " ".join(printable(text).split())
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    space = " " if "`" in line else ""
    return f"{fence}{space}{line}{space}{fence}"


def _rows(table: Table) -> list[str]:
    kinds = ["---", *["---" if table.of_text else "---:"] * (len(table.headings) - 1)]
    return [_line(map(escape, table.headings)), _line(kinds), *(_line(map(_cell, row)) for row in table.rows)]


def _cell(cell: Cell) -> str:
    return f"{escape(cell.text)} {cell.interval}".strip()


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
