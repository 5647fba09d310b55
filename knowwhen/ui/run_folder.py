"""The folder of an evaluation, opened: its figures, and its questions one by one."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from knowwhen.evaluation.figures.retrieval_need import NEEDS
from knowwhen.evaluation.figures.run_figures import RIGHT
from knowwhen.evaluation.journal import JOURNAL
from knowwhen.evaluation.report.questions import QuestionRead, question_of
from knowwhen.evaluation.report.runs import open_runs
from knowwhen.evaluation.report.summary import summarise
from knowwhen.evaluation.running import RUNS
from knowwhen.models.errors import KnowwhenError
from knowwhen.models.faults import shortened
from knowwhen.ui.kept import Kept

_folder_numbers = count(1)
LONGEST = 400  # characters of a question and its answers that are searched

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Line:
    """What a question is found by."""

    id: str
    wrong: frozenset[str]
    """The labels of the methods that did not get it right."""
    need: str
    text: str
    """Question and answers, in lower case."""


class RunFolder:
    """An evaluation, read from its journals alone; nothing else in the folder is looked at."""

    def __init__(self, out: Path) -> None:
        """Read it.

        Raises:
            KnowwhenError: it is no evaluation's folder, or a journal in it is damaged.
        """
        self._opened = open_runs(out)  # the files are closed with it
        self._runs = self._opened.__enter__()
        self._reading = threading.Lock()  # of places in a file
        told = [run.origin.metrics for run in self._runs]
        self.right = RIGHT if all(RIGHT in metrics for metrics in told) else told[0][0]
        self.summary = summarise(self._runs, right=self.right)
        self.number = next(_folder_numbers)
        self._numbers = {name: number for number, name in enumerate(self.summary.question_ids, start=1)}
        self._lines = [_line(self._question(name)) for name in self.summary.question_ids]

    @property
    def needs(self) -> list[str]:
        """Of retrieval, those that a question has; none where the runs cannot tell."""
        found = {line.need for line in self._lines}
        return [need for need in NEEDS if need in found]

    @property
    def labels(self) -> list[str]:
        """Of the methods."""
        return [run.label for run in self._runs]

    def found(self, wrong: str | None, need: str, text: str) -> list[str]:
        """The ids of the questions that fit.

        Args:
            wrong: the label of a method that did not get them right; empty: any method; None: right or wrong.
            need: of retrieval; empty: whether needed or not.
            text: that the question or an answer holds.
        """
        wanted = text.strip().lower()
        return [
            line.id
            for line in self._lines
            if (wrong is None or (wrong in line.wrong if wrong else line.wrong))
            and (not need or line.need == need)
            and wanted in line.text
        ]

    def questions(self, names: Sequence[str]) -> list[QuestionRead]:
        """Some questions with all that was made of them.

        Raises:
            KnowwhenError: a journal is damaged.
        """
        return [self._question(name) for name in names]

    def _question(self, name: str) -> QuestionRead:
        with self._reading:
            return question_of(self._numbers[name], name, self._runs, self.summary)


_folders: Kept[RunFolder] = Kept(4)


def open_folder(path: str) -> RunFolder:
    """The evaluation in a folder, read anew if it has changed.

    Raises:
        KnowwhenError: there is none, or it is damaged.
    """
    if not path.strip():
        raise KnowwhenError("no folder is named; write the one that knowwhen evaluate wrote to")
    try:
        out = Path(path.strip()).expanduser()
        return _folders.get((str(out), _stamp(out)), lambda: RunFolder(out))
    except KnowwhenError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # no folder's name, or not to be read
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise KnowwhenError(f"{shortened(path.strip())} cannot be opened: {reason}") from None


def _stamp(out: Path) -> Stamp:
    """By which a journal that has grown is known."""
    told = ((path.parent.name, path.stat()) for path in sorted((out / RUNS).glob(f"*/{JOURNAL}")))
    return tuple((label, found.st_size, found.st_mtime_ns) for label, found in told)


def _line(question: QuestionRead) -> Line:
    wrong = frozenset(question.answers[place - 1].label for place in question.wrong)
    texts = (question.question, *(answer.answer for answer in question.answers))
    return Line(question.id, wrong, question.need, "\n".join(text[:LONGEST] for text in texts).lower())
