"""The journal of a reference set: each question's labels."""

from contextlib import AbstractContextManager
from pathlib import Path

from knowwhen.evaluation import journal
from knowwhen.evaluation.journal import Finished, Journal, JournalKind
from knowwhen.models.cost import Cost
from knowwhen.models.errors import RetrievalError
from knowwhen.tools.labelled import Labelled, Origin
from knowwhen.tools.reference_manifest import read_reference_manifest


class QuestionLabels(Finished, frozen=True):
    """All labels of one question, the neutral ones too."""

    labels: tuple[Labelled, ...]
    """One for each passage that was retrieved, best first."""
    cost: Cost


def open_journal(folder: Path, origin: Origin) -> AbstractContextManager[Journal[QuestionLabels]]:
    """Begin the journal of a reference set or go on with the one there; see `evaluation/journal.py`."""
    kind = JournalKind(QuestionLabels, "knowwhen reference journal", "reference set", holds=_holds_a_set)
    return journal.open_journal(folder, kind, origin)


def _holds_a_set(folder: Path) -> bool:
    try:
        read_reference_manifest(folder)
    except RetrievalError:
        return False
    return True
