"""Questions asked one after the other, several at once, and kept in a journal."""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.evaluation.journal import Journal, R
from knowwhen.models.errors import CapabilityError, KnowwhenError, ModelError, RetrievalError, SettingsError

FAILURES = 10  # questions that fail one after the other, after which the rest is not tried

Report = Callable[[int, int], None]
"""Told the number of questions done and of all."""


def ask_missing(
    questions: Sequence[GoldQuestion],
    ask: Callable[[GoldQuestion], R],
    journal: Journal[R],
    at_once: int,
    report: Report,
) -> list[str]:
    """Ask the questions that a journal lacks, and write each one's record down when it is there.

    Args:
        questions: all questions of the run.
        ask: makes one question's record; runs in a thread of its own.
        journal: what is finished, and where it goes.
        at_once: how many questions may be under way.
        report: called with the number of questions done and of all, at the beginning and after each.

    Returns:
        The id of each question that failed, with what it failed of; the next run asks them again.

    Raises:
        SettingsError: the journal holds other questions with the same ids.
        KnowwhenError: questions failed `FAILURES` times in a row, or all did, or the journal cannot be
            written.
    """
    _check_same(questions, journal)
    missing = [question for question in questions if question.id not in journal.finished]
    done, in_a_row = len(questions) - len(missing), 0
    failures: list[str] = []
    report(done, len(questions))
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="knowwhen")
    # As many as may be asked at once and no more: of a server that is down little is asked in vain.
    waiting = iter(missing)
    under_way: dict[Future[R], GoldQuestion] = {}
    try:
        while True:
            for question in itertools.islice(waiting, at_once - len(under_way)):
                under_way[pool.submit(ask, question)] = question
            if not under_way:
                return failures
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                question = under_way.pop(future)
                try:
                    journal.add(future.result())
                except (ModelError, RetrievalError, CapabilityError) as error:
                    failures.append(f"{question.id}: {error}")
                    in_a_row += 1
                    if in_a_row == FAILURES or len(failures) == len(questions):
                        raise KnowwhenError(
                            f"{in_a_row} questions failed one after the other, the last was {failures[-1]}; "
                            "run again to go on"
                        ) from None
                else:
                    in_a_row = 0
                done += 1
                report(done, len(questions))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _check_same(questions: Sequence[GoldQuestion], journal: Journal[R]) -> None:
    """Make sure that the journal's questions are these, not others with their ids."""
    for question in questions:
        known = journal.finished.get(question.id)
        if known and (known.question, known.golden_answers) != (question.question, question.golden_answers):
            raise SettingsError(
                f"question {question.id} was another one, or had other answers, when {journal.path} was "
                "begun; go on with the dataset of then, or begin anew in another folder"
            )
