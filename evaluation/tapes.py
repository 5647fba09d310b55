"""A run's recording: of every question all replies of models and retrievers, from which it can be run again.

It is a journal (`evaluation/journal.py`), a line a question. Hidden states lie beside it in numpy's own form,
one array behind the other; a line says at which byte each begins.
"""

import os
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from pydantic import BaseModel

from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.evaluation.journal import JOURNAL, Finished, JournalKind, origin_of, unwritable
from knowwhen.evaluation.long_journal import LongJournal, open_long_journal
from knowwhen.evaluation.run_origin import RunOrigin
from knowwhen.models.errors import CapabilityError, KnowwhenError, ModelError, RetrievalError, SettingsError
from knowwhen.models.standing_in import ModelRecord
from knowwhen.models.tape import TAPE, Array, Call, Form, T, Tape

STATES = "states.npy"
FAILURES: dict[str, type[KnowwhenError]] = {
    each.__name__: each for each in (ModelError, RetrievalError, CapabilityError)
}


class RecordedCall(BaseModel, frozen=True, extra="forbid"):
    """A call and what came of it."""

    key: str
    reply: Any
    arrays: tuple[int, ...] = ()
    """Where each begins in the file of states, in bytes."""
    failure: str = ""
    """The kind of error that came instead of a reply; then the reply is what it said."""


class Recorded(Finished, frozen=True):
    """A question, and all that was asked for it."""

    calls: tuple[RecordedCall, ...]
    """In the order in which they were begun."""
    seconds: float


class TapeOrigin(RunOrigin, frozen=True, extra="forbid"):
    """Of which run this is a recording, and which models it was built with."""

    models: dict[str, ModelRecord]


TAPES = JournalKind(Recorded, "knowwhen tape", "recording")


class Deck(Protocol):
    """Gives each question its tape."""

    def begin(self, question: GoldQuestion) -> Tape | None:
        """The tape of a question that is asked now."""

    def end(self, question: GoldQuestion, tape: Tape | None, seconds: float) -> float:
        """Put a tape away; gives the seconds that the question took, now or when it was recorded."""


class NoTapes:
    """Neither records nor plays."""

    def begin(self, question: GoldQuestion) -> None:
        """No tape."""

    def end(self, question: GoldQuestion, tape: Tape | None, seconds: float) -> float:
        """The seconds."""
        return seconds


class _RecordingTape:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[tuple[str, Any, list[Array], str] | None] = []

    def reply(self, call: Call, form: Form[T], make: Callable[[], T]) -> T:
        with self._lock:
            place = len(self._calls)
            self._calls.append(None)
        try:
            reply = make()
        except tuple(FAILURES.values()) as error:
            self._calls[place] = (call.key, str(error), [], type(error).__name__)
            raise
        self._calls[place] = (call.key, *form.pack(reply), "")
        return reply

    def calls(self) -> Iterator[tuple[str, Any, list[Array], str]]:
        """Those that have ended; of a question that failed, others may be under way."""
        return filter(None, list(self._calls))


class _RecordingDeck:
    def __init__(self, journal: LongJournal[Recorded], states: BinaryIO) -> None:
        self._journal = journal
        self._states = states

    def begin(self, question: GoldQuestion) -> Tape:
        return _RecordingTape()

    def end(self, question: GoldQuestion, tape: Tape | None, seconds: float) -> float:
        assert isinstance(tape, _RecordingTape)
        calls = tuple(
            RecordedCall(key=key, reply=reply, arrays=tuple(map(self._kept, arrays)), failure=failure)
            for key, reply, arrays, failure in tape.calls()
        )
        self._journal.add(
            Recorded(
                question_id=question.id,
                question=question.question,
                golden_answers=question.golden_answers,
                calls=calls,
                seconds=seconds,
            )
        )
        return seconds

    def _kept(self, array: Array) -> int:
        try:
            place = self._states.seek(0, os.SEEK_END)
            np.save(self._states, array, allow_pickle=False)
            self._states.flush()
        except OSError as error:
            raise unwritable(Path(self._states.name), error) from None
        return place


class _PlayingTape:
    def __init__(self, recorded: Recorded, states: BinaryIO, lock: threading.Lock, where: str) -> None:
        self._where = where
        self._states = states
        self._lock = lock
        self._waiting: dict[str, deque[RecordedCall]] = defaultdict(deque)
        for call in recorded.calls:
            self._waiting[call.key].append(call)

    def reply(self, call: Call, form: Form[T], make: Callable[[], T]) -> T:
        with self._lock:
            waiting = self._waiting.get(call.key)
            if not waiting:
                often = "is recorded less often" if call.key in self._waiting else "is not recorded"
                raise KnowwhenError(
                    f"{self._where}: {call} {often}; replay with the settings and prompts of then, or record "
                    "again"
                )
            found = waiting.popleft()
            arrays = [self._array(place) for place in found.arrays]
        if found.failure:
            raise FAILURES[found.failure](found.reply)
        return form.unpack(call, (found.reply, arrays))

    def _array(self, place: int) -> Array:
        self._states.seek(place)
        try:
            array: Array = np.load(self._states, allow_pickle=False)
        except (ValueError, EOFError):
            raise KnowwhenError(f"{self._where}: its hidden states are damaged; record it again") from None
        return array


class _PlayingDeck:
    def __init__(self, journal: LongJournal[Recorded], states: BinaryIO) -> None:
        self._journal = journal
        self._states = states
        self._lock = threading.Lock()

    def begin(self, question: GoldQuestion) -> Tape:
        if question.id not in self._journal:
            raise KnowwhenError(
                f"{self._journal.path} holds no reply for question {question.id}; record it, or replay the "
                "questions of then"
            )
        where = f"{self._journal.path}, question {question.id}"
        return _PlayingTape(self._journal[question.id], self._states, self._lock, where)

    def end(self, question: GoldQuestion, tape: Tape | None, seconds: float) -> float:
        return self._journal[question.id].seconds


@contextmanager
def recording(
    folder: Path, origin: RunOrigin, models: Mapping[str, ModelRecord], finished: LongJournal[Any]
) -> Iterator[Deck]:
    """Record a run in a folder, or go on with the recording there.

    Args:
        folder: the recording's own.
        origin: of the run.
        models: what its models say of themselves, by the strings that named them.
        finished: the run's journal; what is in it must have been recorded, too.

    Raises:
        SettingsError: a finished question of the run is not recorded, or the recording is of another run.
        KnowwhenError: the folder cannot be used.
    """
    whole = TapeOrigin(**origin.model_dump(), models=dict(models))
    with (
        open_long_journal(folder, TAPES, whole) as journal,
        (folder / STATES).open("ab") as states,
    ):
        missing = next((each.question_id for each in finished if each.question_id not in journal), None)
        if missing is not None:
            raise SettingsError(
                f"{finished.path} was begun without recording (question {missing}); record in a run of its "
                "own, with another --out"
            )
        yield _RecordingDeck(journal, states)


@contextmanager
def replaying(folder: Path) -> Iterator[Deck]:
    """Play the recording in a folder.

    Raises:
        KnowwhenError: there is none, or it is damaged.
    """
    recorded_origin(folder)
    try:
        with (folder / JOURNAL).open("rb") as file, (folder / STATES).open("rb") as states:
            yield _PlayingDeck(LongJournal(folder / JOURNAL, TAPES, file), states)
    except FileNotFoundError as error:
        raise KnowwhenError(f"{error.filename} is missing; record again") from None


def recorded_origin(folder: Path) -> TapeOrigin:
    """Of which run a folder holds a recording.

    Raises:
        KnowwhenError: it holds none.
    """
    return TapeOrigin.model_validate(origin_of(folder, TAPES))


@contextmanager
def in_context(tape: Tape | None) -> Iterator[None]:
    """Hang a question's tape where its calls find it."""
    before = TAPE.set(tape)
    try:
        yield
    finally:
        TAPE.reset(before)
