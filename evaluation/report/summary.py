"""What a report is made of, besides the single questions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowwhen.evaluation.figures.comparison import ALWAYS, NEVER, Comparison, compare
from knowwhen.evaluation.figures.run_figures import RIGHT
from knowwhen.evaluation.report.runs import RunRead, reference
from knowwhen.evaluation.run_origin import RunOrigin
from knowwhen.models.errors import KnowwhenError


@dataclass(frozen=True)
class Summary:
    """The figures of the runs, and where they come from."""

    comparison: Comparison
    origins: dict[str, RunOrigin]
    """By label, of all runs, in the order in which they are shown."""
    failed: dict[str, int]
    """By label, also of runs without a finished question, which are in no figure."""
    never: str | None
    """The run that never retrieves."""
    always: str | None
    right: str
    question_ids: tuple[str, ...]
    """Of all runs, in the order in which they are shown: numbers in an id by their size."""
    kinds: tuple[str, ...]
    seconds: bool
    """Whether what the clock measured is shown, in which no two runs agree."""

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        return list(next(iter(self.comparison.runs.values())).quality)


def summarise(runs: Sequence[RunRead], *, right: str = RIGHT, seed: int = 0, seconds: bool = True) -> Summary:
    """Read all runs, of which the numbers and the questions' ids are kept.

    Raises:
        SettingsError: there is no such metric as `right`.
        KnowwhenError: no question was finished by all runs that finished any.
    """
    ids: set[str] = set()
    kinds: set[str] = set()
    finished = dict.fromkeys((run.label for run in runs), 0)
    for run in runs:
        for outcome in run.journal:
            ids.add(outcome.question_id)
            kinds |= {str(kind) for kind in [outcome.metadata.get("kind")] if kind is not None}
            finished[run.label] += outcome.output is not None
    compared = {run.label: run.journal for run in runs if finished[run.label]}
    if not compared:
        raise KnowwhenError("no question was finished by any method; run again with --retry-failed")
    never, always = reference(runs, NEVER), reference(runs, ALWAYS)
    return Summary(
        comparison=compare(compared, never=never or NEVER, always=always or ALWAYS, right=right, seed=seed),
        origins={run.label: run.origin for run in runs},
        failed={run.label: len(run.journal) - finished[run.label] for run in runs},
        never=never,
        always=always,
        right=right,
        question_ids=tuple(sorted(ids, key=_by_numbers)),
        kinds=tuple(sorted(kinds)),
        seconds=seconds,
    )


def _by_numbers(name: str) -> str:
    """A key by which q9 comes before q10, without numbers, for which an id's digits may be too many."""

    def with_length(digits: re.Match[str]) -> str:
        number = digits[0].lstrip("0")
        return f"{len(number):09}{number}"

    return f"{re.sub(r'[0-9]+', with_length, name)}\0{name}"
