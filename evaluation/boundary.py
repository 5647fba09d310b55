"""Measures a model's awareness of its knowledge boundary on single-hop questions (TAIKC, appendix C)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from pydantic import BaseModel

from knowwhen.evaluation import implication
from knowwhen.evaluation.asking import Report, ask_missing
from knowwhen.evaluation.both_answers import BothAnswers, ask_both
from knowwhen.evaluation.boundary_figures import Boundary, Measured, boundary, measured
from knowwhen.evaluation.datasets import GoldQuestion, Skipped, drawn, read_dataset
from knowwhen.evaluation.journal import Journal, JournalKind, open_journal
from knowwhen.models.capability import describe
from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.door import Door
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.fingerprint import fingerprint, weights_of
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.nodes import answer_directly, confident_qa

QUESTIONS = 100  # of a dataset, as the paper drew
CONTAINS = "contains"
AVERAGE = "average"
KIND = JournalKind(BothAnswers, "knowwhen boundary journal", "boundary report")


class Origin(BaseModel, frozen=True, extra="forbid"):
    """What the journalled answers depend on besides their questions."""

    model: str
    weights: str
    judge: str
    """Empty: no judge was asked."""
    judge_weights: str
    prompts: str


class BoundaryReport(BaseModel, frozen=True, extra="forbid"):
    """The figures of every dataset, and how they were come by."""

    model: str
    accuracy: str
    """`contains`, which is whether the answer contains a right one, or the judge's name."""
    limit: int
    """Questions drawn of each dataset, at most."""
    seed: int
    """Of the draw and of the intervals."""
    datasets: list[Boundary]
    average: Boundary | None
    """None for one dataset."""
    first_failure: str
    """A question that failed, and of what; empty if none did."""
    cost: Cost
    """Of all answers, given now or in an earlier run."""
    judge_cost: Cost

    @property
    def blocks(self) -> list[Boundary]:
        """The datasets, and the average if there is one."""
        return [*self.datasets, *([self.average] if self.average else [])]


@dataclass(frozen=True)
class _Dataset:
    name: str
    questions: list[GoldQuestion]
    left_out: int


def boundary_report(
    model: ModelLike,
    datasets: Sequence[str | Path],
    *,
    judge: ModelLike | None = None,
    limit: int = QUESTIONS,
    seed: int = 0,
    out: Path | None = None,
    kind: str | None = None,
    skipped: Skipped | None = None,
    report: Report = lambda done, total: None,
) -> BoundaryReport:
    """Ask questions by Direct QA and by Confident QA, and see whether what is declined is what is not known.

    Stopped at any moment and called again with the same folder, it goes on and asks no finished question
    twice; its result is then the same as without the stop.

    Args:
        model: who is asked.
        datasets: names as `read_dataset` takes them. A question whose metadata says that it takes more than
            one fact (`hops`) is left out.
        judge: a model that says whether an answer implies the right one; None: an answer counts as accurate
            if it contains a right one.
        limit: how many questions are drawn of each dataset, at most.
        seed: of the draw and of the intervals.
        out: the folder of the journal; None: nothing is kept.
        kind: the form of all datasets' records, where it is not to be recognised.
        skipped: counts their bad records, and the reading goes on without them; None: the first ends it.
        report: called with the number of questions done and of all, at the beginning and after each.

    Raises:
        SettingsError: a dataset, model or judge is unknown, a number out of its range, or `out` was begun
            otherwise.
        KnowwhenError: a dataset or the folder cannot be used, or the questions failed.
        ModelError: the model or the judge is not to be had.
    """
    if limit < 1:
        raise SettingsError("limit must be at least 1 question")
    chosen = [_dataset(each, limit, seed, kind, skipped) for each in _different(datasets)]
    door = Door(resolve_model(model), asked_by="knowwhen evaluate boundary")
    judging = None if judge is None else Door(resolve_model(judge), asked_by="knowwhen evaluate boundary")
    prompts = [answer_directly.PROMPT, confident_qa.PROMPT, *([implication.PROMPT] if judging else [])]
    origin = Origin(
        model=_name(model),
        weights=weights_of(door.model),
        judge="" if judge is None else _name(judge),
        judge_weights="" if judging is None else weights_of(judging.model),
        prompts=fingerprint(prompt.encode() for prompt in prompts),
    )
    with _journal(out, origin) as journal:
        failures = ask_missing(
            [question for each in chosen for question in each.questions],
            lambda question: ask_both(door, question, judging),
            journal,
            door.max_concurrency,
            report,
        )
        finished = journal.finished
    parts = [_measured(each, finished) for each in chosen]
    answers = [
        finished[question.id] for each in chosen for question in each.questions if question.id in finished
    ]
    return BoundaryReport(
        model=origin.model,
        accuracy=origin.judge or CONTAINS,
        limit=limit,
        seed=seed,
        datasets=[boundary(each.name, [part], seed) for each, part in zip(chosen, parts, strict=True)],
        average=boundary(AVERAGE, parts, seed) if len(parts) > 1 else None,
        first_failure=failures[0] if failures else "",
        cost=reduce(add_costs, (each.cost for each in answers), NO_COST),
        judge_cost=reduce(add_costs, (each.judge_cost or NO_COST for each in answers), NO_COST),
    )


def _different(datasets: Sequence[str | Path]) -> list[str | Path]:
    if not datasets:
        raise SettingsError("there is no dataset to ask; give one or more")
    names = list(map(str, datasets))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SettingsError(f"{twice} is given twice; give each dataset once")
    return list(datasets)


def _dataset(
    dataset: str | Path, limit: int, seed: int, kind: str | None, skipped: Skipped | None
) -> _Dataset:
    """Draw single-hop questions; their ids tell them from those of other datasets."""
    left_out = 0

    def single_hop() -> Iterator[GoldQuestion]:
        nonlocal left_out
        for question in read_dataset(dataset, kind, skipped):
            if question.metadata.get("hops", 1) == 1:
                yield question
            else:
                left_out += 1

    questions = drawn(single_hop(), limit, seed)
    if not questions:
        raise KnowwhenError(f"{dataset} holds no single-hop question; give a dataset that does")
    return _Dataset(str(dataset), [replace(each, id=f"{dataset}/{each.id}") for each in questions], left_out)


def _measured(dataset: _Dataset, finished: Mapping[str, BothAnswers]) -> Measured:
    records = [finished[each.id] for each in dataset.questions if each.id in finished]
    return measured(records, failed=len(dataset.questions) - len(records), left_out=dataset.left_out)


def _name(model: ModelLike) -> str:
    return model if isinstance(model, str) else describe(model)


class _Unwritten(Journal[BothAnswers]):
    """A journal that is kept in memory alone."""

    def add(self, record: BothAnswers) -> None:
        self.finished[record.question_id] = record


def _journal(out: Path | None, origin: Origin) -> AbstractContextManager[Journal[BothAnswers]]:
    return nullcontext(_Unwritten(Path(), {})) if out is None else open_journal(out, KIND, origin)
