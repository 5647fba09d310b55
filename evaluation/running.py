"""A method over the questions of a dataset: many at once, each written down as soon as it is done."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables.config import ContextThreadPoolExecutor
from pydantic_core import to_jsonable_python

from knowwhen.evaluation.arms import Arm
from knowwhen.evaluation.asking import FAILURES
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.evaluation.journal import JournalKind
from knowwhen.evaluation.long_journal import LongJournal, open_long_journal
from knowwhen.evaluation.metric_names import USUAL
from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.question_set import QuestionSet
from knowwhen.evaluation.run_origin import RunOrigin
from knowwhen.evaluation.scoring import Scorer
from knowwhen.evaluation.tally import Tally
from knowwhen.evaluation.tapes import Deck, NoTapes, in_context, recorded_origin, recording, replaying
from knowwhen.models.errors import CapabilityError, KnowwhenError, ModelError, RetrievalError, SettingsError

AT_ONCE = 16  # questions under way, and model requests in flight
RUNS = "runs"  # the folder of the journals, a folder for each method
RUN = JournalKind(Outcome, "knowwhen run journal", "run")

Watch = Callable[[Tally], None]
"""Told how far a run is, at its beginning and after each question."""


@dataclass(frozen=True)
class Ran:
    """A run that is done."""

    label: str
    folder: Path
    tally: Tally


def run(
    arm: Arm,
    questions: QuestionSet,
    out: Path,
    *,
    scorer: Scorer | None = None,
    at_once: int = AT_ONCE,
    retry_failed: bool = False,
    record: Path | None = None,
    replay: Path | None = None,
    watch: Watch = lambda tally: None,
) -> Ran:
    """Ask a method all questions that its journal lacks.

    Stopped at any moment, also by kill -9, it goes on when it is called again with the same folder, and asks
    no finished question twice. A question that fails is written down with its error, and is finished too,
    unless the failed ones are to be asked again.

    Args:
        arm: the method.
        questions: what it is asked.
        out: the folder of the evaluation; the journal is `runs/<label>/journal.jsonl` in it.
        scorer: how its answers are scored; None: exact match, F1 and containment.
        at_once: how many questions may be under way.
        retry_failed: ask the questions again that failed in an earlier run.
        record: the folder that keeps every reply of models and retrievers, in `<label>` of it.
        replay: such a folder: nothing is asked, and the same comes out.
        watch: told how far the run is, at the beginning and after each question.

    Raises:
        SettingsError: the run was begun otherwise, or with other questions.
        KnowwhenError: questions failed `FAILURES` times in a row, or all did; or the dataset or the folder
            cannot be used.
    """
    if at_once < 1:
        raise SettingsError("concurrency must be at least 1 question at once")
    scorer = scorer or Scorer(USUAL)
    origin = RunOrigin(
        **arm.origin.model_dump(),
        dataset=str(questions.dataset),
        limit=questions.limit,
        seed=questions.seed,
        metrics=list(scorer.names),
        judge=scorer.judge_name,
    )
    if replay is not None:
        origin = _as_recorded(origin, replay / arm.label)
    tally = Tally(len(questions))
    folder = out / RUNS / arm.label
    with ExitStack() as open_:
        journal = open_.enter_context(open_long_journal(folder, RUN, origin))
        deck: Deck = NoTapes()
        if record is not None:
            models = {**arm.models, **scorer.models}
            deck = open_.enter_context(recording(record / arm.label, origin, models, journal))
        if replay is not None:
            deck = open_.enter_context(replaying(replay / arm.label))
        missing = _missing(questions, journal, tally, retry_failed)
        watch(tally)
        asking = _Asking(arm, missing, scorer, journal, deck, tally, watch)
        _finish(asking.all(at_once), at_once)
    if tally.asked and tally.failed == tally.total:
        raise KnowwhenError(f"all questions failed, the first was {tally.first_failure}; {AGAIN}")
    return Ran(arm.label, folder, tally)


def _as_recorded(origin: RunOrigin, folder: Path) -> RunOrigin:
    """The origin of a run whose replies are a recording's: weights and passages are those of then."""
    recorded = recorded_origin(folder)
    for name in ("model", "corpus", "judge"):
        then, now = getattr(recorded, name), getattr(origin, name)
        if then != now:
            raise SettingsError(
                f"{folder} was recorded with {name} {then!r}, which is now {now!r}; replay with that of then"
            )
    return origin.model_copy(update={"weights": recorded.weights, "passages": recorded.passages})


AGAIN = "run again with --retry-failed to ask those that failed"


def _missing(
    questions: QuestionSet, journal: LongJournal[Outcome], tally: Tally, retry_failed: bool
) -> Iterator[GoldQuestion]:
    """The questions to be asked; those that are done are counted first, all of them."""
    failed = set()
    for outcome in journal:
        if outcome.output is None and retry_failed:
            failed.add(outcome.question_id)
        else:
            tally.add(outcome)
    begun = len(journal)

    def lacking() -> Iterator[GoldQuestion]:
        for question in questions:
            if begun and question.id in journal:
                _check_same(question, journal)
                if question.id not in failed:
                    continue
            yield question

    return lacking()


def _check_same(question: GoldQuestion, journal: LongJournal[Outcome]) -> None:
    known = journal[question.id]
    if (known.question, known.golden_answers) != (question.question, question.golden_answers):
        raise SettingsError(
            f"question {question.id} was another one, or had other answers, when {journal.path} was begun; "
            "go on with the dataset of then, or begin anew in another folder"
        )


class _Asking:
    """Workers that take the next question each as soon as they are done with one."""

    def __init__(
        self,
        arm: Arm,
        questions: Iterator[GoldQuestion],
        scorer: Scorer,
        journal: LongJournal[Outcome],
        deck: Deck,
        tally: Tally,
        watch: Watch,
    ) -> None:
        self.arm = arm
        self.questions = questions
        self.scorer = scorer
        self.journal = journal
        self.deck = deck
        self.tally = tally
        self.watch = watch
        self.failed_in_a_row = 0

    async def all(self, at_once: int) -> None:
        """Ask all questions, so many at once."""
        workers = [asyncio.create_task(self._work()) for _ in range(at_once)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()

    async def _work(self) -> None:
        for question in self.questions:
            outcome = await self._outcome(question)
            self.journal.add(outcome)
            self.tally.asked += 1
            self.tally.add(outcome)
            self.watch(self.tally)
            self._see_whether_all_fail(outcome)

    def _see_whether_all_fail(self, outcome: Outcome) -> None:
        self.failed_in_a_row = self.failed_in_a_row + 1 if outcome.output is None else 0
        if self.failed_in_a_row == FAILURES:
            raise KnowwhenError(
                f"{FAILURES} questions failed one after the other, the last was {outcome.question_id}: "
                f"{outcome.error}; {AGAIN}"
            )

    async def _outcome(self, question: GoldQuestion) -> Outcome:
        began = time.perf_counter()
        tape = self.deck.begin(question)
        with in_context(tape):
            # A graph may raise anything, and its own errors are no reason to lose the other questions.
            ended = await asyncio.gather(self._answered(question), return_exceptions=True)
        came = ended[0]
        error = _told(came) if isinstance(came, BaseException) else ""
        output, metrics = (None, {}) if isinstance(came, BaseException) else came
        return Outcome(
            question_id=question.id,
            question=question.question,
            golden_answers=question.golden_answers,
            metadata=dict(question.metadata),
            output=output,
            metrics=dict(metrics),
            seconds=self.deck.end(question, tape, time.perf_counter() - began),
            error=error,
        )

    async def _answered(self, question: GoldQuestion) -> tuple[dict[str, Any], Mapping[str, float]]:
        asked: Any = {"question": question.question}
        output: dict[str, Any] = to_jsonable_python(await self.arm.method.ainvoke(asked))
        metrics = await self.scorer(question, output["answer"])
        return output, metrics


def _told(error: BaseException) -> str:
    """What a question failed of, on one line.

    Raises:
        BaseException: it is an error of the run and of no question.
    """
    if isinstance(error, ModelError | RetrievalError | CapabilityError):
        return str(error)
    if isinstance(error, KnowwhenError) or not isinstance(error, Exception):
        raise error
    return " ".join(f"{type(error).__name__}: {error}".split())


def _finish(running: Coroutine[Any, Any, None], at_once: int) -> None:
    """Run to the end, also where an event loop is running already, as in a notebook."""

    async def with_threads() -> None:
        # Nodes of a graph that are not asynchronous run in the loop's threads, of which it has few itself.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(at_once))
        await running

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(with_threads())
        return
    with ContextThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, with_threads()).result()


def compare(arms: Sequence[Arm], questions: QuestionSet, out: Path, **how: Any) -> list[Ran]:
    """Run several methods on the same questions, one after the other; see `run`.

    Raises:
        SettingsError: two of them have one label.
    """
    labels = [each.label for each in arms]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SettingsError(f"two methods are called {twice}; give one another label, as in name=method")
    return [run(each, questions, out, **how) for each in arms]
