"""A report's files, written from the journals alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from knowwhen.evaluation.figures.comparison import Comparison
from knowwhen.evaluation.figures.run_figures import RIGHT
from knowwhen.evaluation.journal import unwritable
from knowwhen.evaluation.report.find import Entry, entry_of
from knowwhen.evaluation.report.html import Drawn, Page, Pages, inlined
from knowwhen.evaluation.report.markdown import as_markdown
from knowwhen.evaluation.report.plot_data import PlotData, as_csv, plot_data
from knowwhen.evaluation.report.questions import question_of
from knowwhen.evaluation.report.runs import RunRead, open_runs
from knowwhen.evaluation.report.summary import Summary, summarise

QUESTIONS = 200  # on a page, at most
WEIGHT = 4_000_000  # characters of a page's questions, at most, but for a single one
FIGURES, PAGES, FIND = "figures", "questions", "find.html"
OURS = (
    f"{FIGURES}/quality-*.*",
    f"{FIGURES}/risk-coverage*.*",
    f"{FIGURES}/calibration*.*",
    f"{FIGURES}/need-by-*.*",
    f"{FIGURES}/routes-*.*",
    f"{PAGES}/[0-9]*.html",
    f"{PAGES}/{FIND}",
)
NO_PLOTS = (
    "there are no plots without matplotlib; pip install 'knowwhen[report]', then write the report again"
)


@dataclass(frozen=True)
class Written:
    """A report that stands."""

    markdown: Path
    html: Path
    comparison: Comparison
    """Its figures."""
    missing: str
    """What it lacks and what to do, on one line; empty: nothing."""


def write_report(out: Path, *, right: str = RIGHT, seed: int = 0, seconds: bool = True) -> Written:
    """Write the report of an evaluation: `report.md`, `report.html`, plots with their data, all questions.

    The same journals give the same bytes, and so do a run that was stopped and resumed and one that was not,
    if what the clock measured is left out. What an earlier report left in the folder is replaced.

    Args:
        out: the folder that `evaluate` or `compare` wrote to.
        right: the metric by which an answer counts as right.
        seed: of the intervals and permutations.
        seconds: tell how long the answers took.

    Raises:
        SettingsError: there is no such metric as `right`.
        KnowwhenError: there is no run, a journal is damaged, no question was finished by all methods, or the
            folder cannot be written.
    """
    with open_runs(out) as runs:
        summary = summarise(runs, right=right, seed=seed, seconds=seconds)
        try:
            return _write(out, runs, summary)
        except OSError as error:
            raise unwritable(out, error) from None


def _write(out: Path, runs: Sequence[RunRead], summary: Summary) -> Written:
    for old in (path for pattern in OURS for path in out.glob(pattern)):
        old.unlink()
    drawn, missing = _draw(out, summary)
    pages = Pages(summary)
    written, blocks = _write_questions(out, runs, summary, pages)
    plots = [(each.title, f"{FIGURES}/{each.name}.svg") for each in drawn]
    markdown, html = out / "report.md", out / "report.html"
    _put(markdown, as_markdown(summary, plots, missing))
    _put(html, pages.report(drawn, missing, written, blocks))
    return Written(markdown, html, summary.comparison, missing)


def _draw(out: Path, summary: Summary) -> tuple[list[Drawn], str]:
    """Write the figures and their data; without matplotlib the data alone, and what to say of it."""
    folder = out / FIGURES
    folder.mkdir(exist_ok=True)
    every = list(plot_data(summary))
    for each in every:
        _put(folder / f"{each.name}.csv", as_csv(each.rows))
    try:
        from knowwhen.evaluation.report.plots import draw
    except ModuleNotFoundError:
        return [], NO_PLOTS

    def drawn(data: PlotData) -> Drawn:
        svg = draw(data)
        (folder / f"{data.name}.svg").write_bytes(svg)
        return inlined(data, svg)

    return [drawn(each) for each in every], ""


def _write_questions(
    out: Path, runs: Sequence[RunRead], summary: Summary, pages: Pages
) -> tuple[list[Page], Sequence[Markup]]:
    """Write pages of questions as they fill, one in memory at a time; a single one is given back instead."""
    written: list[Page] = []
    entries: list[Entry] = []
    waiting: tuple[Page, list[Markup]] | None = None
    for page, blocks, found in _filled(runs, summary, pages):
        if waiting is not None:
            _put_page(out, pages, *waiting, more=True)
        waiting = (page, blocks)
        written.append(page)
        entries += found
    if waiting is None or len(written) == 1:
        return written, waiting[1] if waiting else []
    _put_page(out, pages, *waiting, more=False)
    _put(out / PAGES / FIND, pages.find(entries))
    return written, []


def _filled(
    runs: Sequence[RunRead], summary: Summary, pages: Pages
) -> Iterator[tuple[Page, list[Markup], list[Entry]]]:
    """Each page with its questions, and by what these are found."""
    blocks: list[Markup] = []
    entries: list[Entry] = []
    wrong = weight = 0
    page = 1
    for number, name in enumerate(summary.question_ids, start=1):
        question = question_of(number, name, runs, summary)
        block = pages.question(question)
        if blocks and (len(blocks) == QUESTIONS or weight + len(block) > WEIGHT):
            yield Page(page, number - len(blocks), number - 1, wrong), blocks, entries
            page, blocks, entries, wrong, weight = page + 1, [], [], 0, 0
        blocks.append(block)
        entries.append(entry_of(page, question))
        weight += len(block)
        wrong += bool(question.wrong)
    last = len(summary.question_ids)
    yield Page(page, last - len(blocks) + 1, last, wrong), blocks, entries


def _put_page(out: Path, pages: Pages, page: Page, blocks: Sequence[Markup], *, more: bool) -> None:
    path = out / PAGES / page.file
    path.parent.mkdir(exist_ok=True)
    _put(path, pages.questions(page, blocks, more))


def _put(path: Path, text: str | Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.writelines([text] if isinstance(text, str) else text)
