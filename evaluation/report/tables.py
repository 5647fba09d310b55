"""The report's tables, the same in Markdown and in HTML."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from knowwhen.evaluation.figures.resampling import RESAMPLES
from knowwhen.evaluation.figures.retrieval_need import NEEDS, NeedGroup
from knowwhen.evaluation.figures.run_figures import GroupFigures, RunFigures
from knowwhen.evaluation.figures.score_figures import ScoreFigures
from knowwhen.evaluation.intervals import Figure
from knowwhen.evaluation.report.headings import heading
from knowwhen.evaluation.report.summary import Summary
from knowwhen.models.cost import NO_COST

NOTHING = "–"
COUNTS = ("retrievals", "passages", *(name for name in NO_COST if name not in ("retrievals", "passages")))
NEED_MEANS = {
    "needed": "wrong without, right with",
    "unneeded": "right without and with",
    "harmful": "right without, wrong with",
    "neither": "wrong without and with",
}


@dataclass(frozen=True)
class Cell:
    """A value and its interval."""

    text: str
    interval: str = ""


@dataclass(frozen=True)
class Table:
    """The first column names the row."""

    title: str
    about: str
    headings: tuple[str, ...]
    rows: list[list[Cell]]
    of_text: bool = False
    """No numbers are in it."""


def methods_table(summary: Summary) -> Table:
    """Every method: quality, cost, retrieval where it was needed, failures."""
    compared = summary.comparison
    bounded = bool(compared.boundary)
    names = [*COUNTS, "seconds"] if summary.seconds else list(COUNTS)
    rows = []
    for label in summary.origins:
        run = compared.runs.get(label)
        row = [Cell(label)]
        row += [figure(run.quality[metric] if run else None) for metric in summary.metrics]
        row.append(figure(run.retrieved if run else None))
        row += [_amount(run, name) for name in names]
        if bounded:
            boundary = compared.boundary.get(label)
            row += [figure(each) for each in ((boundary.over, boundary.under) if boundary else (None, None))]
        rows.append([*row, Cell(f"{summary.failed[label]:,}")])
    boundary_headings = ("over-retrieval", "under-retrieval") if bounded else ()
    about = "Quality and shares lie in [0, 1]; costs are means of a question."
    if bounded:
        about += (
            " Over-retrieval: share of the questions that a method retrieved for though the run without "
            "retrieval is right; under-retrieval: that it did not retrieve for though only retrieval helps."
        )
    return Table(
        title="Methods",
        about=about,
        headings=(
            "method",
            *map(heading, summary.metrics),
            "retrieved",
            *map(heading, names),
            *boundary_headings,
            "failed",
        ),
        rows=rows,
    )


def difference_tables(summary: Summary) -> list[Table]:
    """All pairs of methods, a table for each metric; none of one method alone."""
    found = summary.comparison.differences
    return [
        Table(
            title=f"Differences in {heading(metric)}",
            about="Of the two methods on the same questions; p by the paired permutation test, and "
            "corrected by Holm for all pairs of the table.",
            headings=("methods", "difference", "p", "p (Holm)"),
            rows=[
                [
                    Cell(f"{each.one} − {each.other}"),
                    figure(each.difference, signed=True),
                    Cell(_p(each.p)),
                    Cell(_p(each.p_holm)),
                ]
                for each in found
                if each.metric == metric
            ],
        )
        for metric in dict.fromkeys(each.metric for each in found)
    ]


def need_table(summary: Summary) -> Table | None:
    """How often retrieval is needed, and what the methods did then; None without both reference runs."""
    compared = summary.comparison
    if compared.need is None:
        return None
    return Table(
        title="Need of retrieval",
        about=f"An answer is right if its {heading(summary.right)} reaches 0.5. Retrieving where it is "
        f"needed and nowhere else would get {compared.need.ideal.value:.3f} of the questions right. In the "
        "columns of the methods: for how many they retrieved, and how many they got right.",
        headings=("retrieval is", "questions", "share", *compared.boundary),
        rows=[
            [
                Cell(f"{name}: {NEED_MEANS[name]}"),
                Cell(f"{compared.need.questions[name]:,}"),
                figure(compared.need.shares[name]),
                *(
                    Cell(f"{chosen.retrieved:,} retrieved, {chosen.right:,} right")
                    for chosen in (each.by_need[name] for each in compared.boundary.values())
                ),
            ]
            for name in NEEDS
        ],
    )


def score_table(summary: Summary) -> Table | None:
    """What the methods' scores are worth; None if no method has one."""
    rows = [
        [Cell(label), Cell(of), *_score_cells(scores)]
        for of, found in score_sets(summary)
        for label, scores in found.items()
    ]
    if not rows:
        return None
    return Table(
        title="Scores",
        about="How well a method's score of the question as asked tells right from wrong: its own answer, "
        "and the answer without retrieval, which is what a gate is to know. AUROC is higher for a better "
        "score, the others are lower; ECE and Brier are of confidences alone.",
        headings=("method", "of", "estimator", "questions", "AUROC", "ECE", "Brier", "AURC", "E-AURC"),
        rows=rows,
    )


def score_sets(summary: Summary) -> list[tuple[str, dict[str, ScoreFigures]]]:
    """What the scores are held against, with the figures of the methods that have any."""
    own = {label: run.score for label, run in summary.comparison.runs.items() if run.score is not None}
    knowing = summary.comparison.scores_of_knowing
    return [(of, found) for of, found in (("own answer", own), ("knowing", knowing)) if found]


def group_tables(summary: Summary) -> list[Table]:
    """Need, quality and retrievals by hops and by kind, where the dataset tells them."""
    compared = summary.comparison
    tables = []
    for by, need, groups in (
        ("hops", compared.need_by_hops, lambda run: run.by_hops),
        ("kind of question", compared.need_by_kind, lambda run: run.by_kind),
    ):
        tables += [_needs(by, need), _groups(summary, by, need, groups)]
    return [table for table in tables if table.rows]


def runs_table(summary: Summary) -> Table:
    """How every method was run."""
    return Table(
        title="How it was run",
        about="Fingerprints tell runs apart that bear the same names.",
        headings=("label", "method", "model", "weights", "corpus", "passages", "prompts", "settings"),
        rows=[
            [
                Cell(text or NOTHING)
                for text in (
                    label,
                    origin.method,
                    origin.model,
                    origin.weights,
                    origin.corpus,
                    origin.passages,
                    origin.prompts,
                    origin.settings,
                )
            ]
            for label, origin in summary.origins.items()
        ],
        of_text=True,
    )


def how_it_was_run(summary: Summary, quote: Callable[[str], str]) -> str:
    """In a sentence or two: dataset, questions, model, corpus, judge, and of what the figures are.

    Args:
        summary: of the runs.
        quote: sets a text of others apart.
    """
    compared, origins = summary.comparison, summary.origins.values()
    limits = {(each.limit, each.seed) for each in origins}
    drawn = " and ".join(
        "all of them" if limit is None else f"{limit:,} drawn with seed {seed}"
        for limit, seed in sorted(limits, key=str)
    )
    judges = _several((each.judge for each in origins), quote)
    corpora = _several((each.corpus for each in origins), quote)
    left_out = f", leaving out {compared.left_out:,}" if compared.left_out else ""
    seed = next(iter(compared.runs.values())).seed
    return (
        f"Questions of {_several((each.dataset for each in origins), quote)} ({drawn}), answered by "
        f"{_several((each.model for each in origins), quote) or 'a model that is not told'}"
        + (f", looking things up in {corpora}" if corpora else "")
        + (f", judged by {judges}" if judges else "")
        + f". The figures are of the {compared.questions:,} questions that all methods finished"
        f"{left_out}; in brackets stand their 95 % intervals (percentile bootstrap, {RESAMPLES:,} resamples, "
        f"seed {seed})."
    )


def figure(found: Figure | None, digits: int = 3, *, signed: bool = False) -> Cell:
    """A number with its interval."""
    if found is None:
        return Cell(NOTHING)
    form = f"{'+' if signed else ''},.{digits}f"
    if found.low is None or found.high is None:
        return Cell(format(found.value, form))
    return Cell(format(found.value, form), f"[{found.low:{form}}, {found.high:{form}}]")


def _amount(run: RunFigures | None, name: str) -> Cell:
    if run is None or run.cost is None:
        return Cell(NOTHING)
    return figure(getattr(run.cost, name).mean, 0 if name.endswith("tokens") else 2)


def _needs(by: str, groups: list[NeedGroup]) -> Table:
    return Table(
        title=f"Need of retrieval by {by}",
        about="Shares of each group's questions. Ideal: what would be right if retrieval were used where it "
        "is needed and nowhere else.",
        headings=(by.split()[0], "questions", *NEEDS, "ideal"),
        rows=[
            [
                Cell(each.name),
                Cell(f"{sum(each.need.questions.values()):,}"),
                *(figure(each.need.shares[name]) for name in NEEDS),
                figure(each.need.ideal),
            ]
            for each in groups
        ],
    )


def _groups(
    summary: Summary, by: str, needs: list[NeedGroup], groups: Callable[[RunFigures], list[GroupFigures]]
) -> Table:
    boundary = {each.name: each.boundary for each in needs}
    rows = []
    for label, run in summary.comparison.runs.items():
        for each in groups(run):
            row = [Cell(label), Cell(each.name), Cell(f"{each.questions:,}")]
            row += [figure(each.quality[metric]) for metric in summary.metrics]
            row += [figure(each.retrieved), figure(each.retrievals, 2)]
            if needs:
                found = boundary.get(each.name, {}).get(label)
                row += [figure(share) for share in ((found.over, found.under) if found else (None, None))]
            rows.append(row)
    first = ("method", by.split()[0], "questions", *map(heading, summary.metrics), "retrieved", "retrievals")
    last = ("over-retrieval", "under-retrieval") if needs else ()
    return Table(f"By {by}", "", (*first, *last), rows)


def _score_cells(scores: ScoreFigures) -> list[Cell]:
    plain = (scores.ece, scores.brier, scores.aurc, scores.e_aurc)
    return [
        Cell(", ".join(scores.estimators) or NOTHING),
        Cell(f"{scores.number:,}"),
        figure(scores.auroc),
        *(Cell(NOTHING if number is None else f"{number:.3f}") for number in plain),
    ]


def _p(p: float) -> str:
    return f"{p:.4f}"


def _several(names: Iterable[str], quote: Callable[[str], str]) -> str:
    return " and ".join(quote(name) for name in dict.fromkeys(names) if name)
