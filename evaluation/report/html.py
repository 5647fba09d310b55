"""The report's pages in HTML: they need no network, and what others wrote stays text in them."""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from knowwhen.evaluation.report.find import Entry
from knowwhen.evaluation.report.plot_data import PlotData
from knowwhen.evaluation.report.questions import VERDICTS, QuestionRead, as_lines, shortened
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
from knowwhen.tools.printable import printable

HERE = Path(__file__).parent
SIGNS = {"right": "✓", "wrong": "✗", "failed": "!", "not asked": "–"}


@dataclass(frozen=True)
class Page:
    """A page of questions, in a file of its own or, if it is the only one, in the report."""

    number: int
    first: int
    """Number of its first question."""
    last: int
    wrong: int
    """Questions that one method or more did not get right."""

    @property
    def file(self) -> str:
        """Its name in the folder of the pages."""
        return f"{self.number:04}.html"


@dataclass(frozen=True)
class Drawn:
    """A figure for the page."""

    name: str
    title: str
    svg: Markup


class Pages:
    """Renders the pages of one report."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._environment = Environment(
            loader=FileSystemLoader(HERE),
            autoescape=True,
            trim_blocks=True,
            finalize=_printable,
            keep_trailing_newline=True,
        )
        self._environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
        script = (HERE / "page.js").read_text("utf-8")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        self._environment.globals |= {
            "style": Markup((HERE / "page.css").read_text("utf-8")),
            "script": Markup(script),
            "script_hash": f"sha256-{digest}",
            "shortened": shortened,
            "as_lines": as_lines,
            "sign": SIGNS.__getitem__,
            "summary": summary,
        }
        parts: Any = self._environment.get_template("questions.html.jinja").module
        self._block = parts.question_block

    def question(self, question: QuestionRead) -> Markup:
        """A question with all that is to be seen of it when it is opened."""
        return Markup(self._block(question))

    def questions(self, page: Page, blocks: Sequence[Markup], more: bool) -> str:
        """A page of questions.

        Args:
            page: which.
            blocks: of its questions.
            more: whether another page follows.
        """
        return self._environment.get_template("questions_page.html.jinja").render(
            first=page.first,
            last=page.last,
            blocks=blocks,
            before=f"{page.number - 1:04}.html" if page.number > 1 else "",
            after=f"{page.number + 1:04}.html" if more else "",
        )

    def find(self, entries: Sequence[Entry]) -> Iterator[str]:
        """The page that finds questions on all pages, piece by piece.

        Args:
            entries: of all questions.
        """
        return self._environment.get_template("find_page.html.jinja").generate(
            entries=entries,
            verdicts=[(verdict.replace(" ", "-"), SIGNS[verdict]) for verdict in VERDICTS],
            methods=list(map(printable, self._summary.origins)),
        )

    def report(
        self, figures: Sequence[Drawn], no_plots: str, pages: Sequence[Page], blocks: Sequence[Markup]
    ) -> str:
        """The page with the tables and plots.

        Args:
            figures: the plots.
            no_plots: what to say where there are none.
            pages: of the questions.
            blocks: the questions, if they are all on one page.
        """
        summary = self._summary
        tables = [
            *difference_tables(summary),
            need_table(summary),
            score_table(summary),
            *group_tables(summary),
            runs_table(summary),
        ]
        return self._environment.get_template("report.html.jinja").render(
            how=how_it_was_run(summary, lambda name: f"“{name}”"),
            methods=methods_table(summary),
            tables=[table for table in tables if table is not None],
            figures=figures,
            no_plots=no_plots,
            pages=pages,
            blocks=blocks,
        )


def inlined(data: PlotData, svg: bytes) -> Drawn:
    """A figure as it stands in the page: its ids are its own, black is the page's ink."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{data.name}-", text)
    text = re.sub(r"(?<=[: ])#000000", "currentColor", text)
    title = Markup('<svg role="img" aria-label="{}" ').format(printable(data.title))
    return Drawn(data.name, data.title, title + Markup(text.removeprefix("<svg ")))


def _printable(value: object) -> object:
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)
