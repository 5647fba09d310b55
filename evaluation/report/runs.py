"""The runs in an evaluation's folder, read from their journals."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from knowwhen.evaluation.figures.comparison import ALWAYS, NEVER
from knowwhen.evaluation.journal import JOURNAL
from knowwhen.evaluation.long_journal import LongJournal
from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.run_origin import RunOrigin
from knowwhen.evaluation.running import RUN, RUNS
from knowwhen.models.errors import KnowwhenError

REFERENCES = (NEVER, ALWAYS)


@dataclass(frozen=True)
class RunRead:
    """One method's run."""

    label: str
    origin: RunOrigin
    journal: LongJournal[Outcome]


@contextmanager
def open_runs(out: Path) -> Iterator[list[RunRead]]:
    """The runs in a folder: that which never retrieves, that which always does, the others by their names.

    Not in the order in which they were run, so that the journals alone decide what the report looks like.

    Args:
        out: the folder of `evaluate` or `compare`.

    Raises:
        KnowwhenError: there is no run in it, or a journal is damaged.
    """
    paths = sorted(path for path in (out / RUNS).glob(f"*/{JOURNAL}") if path.stat().st_size)
    if not paths:
        raise KnowwhenError(f"{out} holds no run; give the folder that evaluate or compare wrote to")
    with ExitStack() as stack:
        runs = []
        for path in paths:
            file = stack.enter_context(path.open("rb"))
            runs.append(RunRead(path.parent.name, _origin(path), LongJournal(path, RUN, file)))
        first = [reference(runs, method) for method in REFERENCES]
        yield sorted(runs, key=lambda run: (run.label != first[0], run.label != first[1], run.label))


def reference(runs: Sequence[RunRead], method: str) -> str | None:
    """The label of the run of one of `REFERENCES`; of several the one of that name, or the first."""
    labels = [run.label for run in runs if run.origin.method == method]
    return method if method in labels else min(labels, default=None)


def _origin(path: Path) -> RunOrigin:
    with path.open("rb") as file:
        line = file.readline()
    if not line.startswith(RUN.beginning):
        raise KnowwhenError(f"{path} is no run's journal; remove it, or give the folder of an evaluation")
    try:
        header = json.loads(line)
        if header["version"] == RUN.version:
            return RunOrigin.model_validate(header["origin"])
    except (ValueError, KeyError, ValidationError):
        raise KnowwhenError(f"{path}:1 is damaged; begin the run anew in another folder") from None
    raise KnowwhenError(
        f"{path} is a journal of format {header['version']}, this knowwhen reads format {RUN.version}; "
        "install the knowwhen that wrote it"
    )
