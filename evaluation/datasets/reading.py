"""Reading a dataset: where it is, which form it has, and its questions one after the other."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from knowwhen.almanac.world import default_world
from knowwhen.evaluation.datasets.aliases import with_aliases
from knowwhen.evaluation.datasets.almanac import ALMANACS, almanac_questions
from knowwhen.evaluation.datasets.fields import is_text
from knowwhen.evaluation.datasets.flashrag import FLASHRAG
from knowwhen.evaluation.datasets.form import BadRecord, Form, Record
from knowwhen.evaluation.datasets.forms import KINDS, form_called, form_of
from knowwhen.evaluation.datasets.gold import GoldQuestion
from knowwhen.evaluation.datasets.hub import PREFIX, hub_rows
from knowwhen.evaluation.datasets.ids import Ids
from knowwhen.evaluation.datasets.located import Located, records
from knowwhen.evaluation.datasets.skipped import Complain, Skipped, refuse
from knowwhen.models.errors import KnowwhenError, SettingsError


def read_dataset(
    dataset: str | Path, kind: str | None = None, skipped: Skipped | None = None
) -> Iterator[GoldQuestion]:
    """The questions of a dataset, one after the other, never all at once.

    Args:
        dataset: a file in one of the forms of docs/datasets.md, also packed with gzip; or `almanac:train`,
            `almanac:calibration` or `almanac:test`: a split of the world that the pocket model has read of
            (`almanac` is its train split); or `hf:<name>[/config][:split]` through the library `datasets`. A
            file of such a name is meant by `./almanac`.
        kind: the form of the records, one of `KINDS`; None: the first that is of any form tells.
        skipped: counts the bad records, and the reading goes on without them; None: the first ends it.

    Raises:
        SettingsError: there is no such dataset or kind.
        KnowwhenError: a record is no question or has the id of an earlier one, says which and why; or the
            file is damaged, or holds no question at all.
    """
    if kind is not None and kind not in KINDS:
        raise SettingsError(f"no kind of dataset is called {kind!r}; give one of {', '.join(KINDS)}")
    split = ALMANACS.get(dataset)
    if split:
        return almanac_questions(default_world(), split)
    form = form_called(kind) if kind else None
    complain = skipped.add if skipped else refuse
    return _questions(_rows(dataset, complain), form, str(dataset), complain)


def kind_of(dataset: str | Path) -> str | None:
    """The kind that a dataset is recognised as, by its first record of any kind; None: it has none.

    The almanac's is `flashrag`, in which its files are written.

    Raises:
        SettingsError: there is no such dataset.
        KnowwhenError: it cannot be read.
    """
    if dataset in ALMANACS:
        return FLASHRAG.kind
    forms = (form_of(located.record) for located in _rows(dataset, Skipped().add))
    return next((form.kind for form in forms if form), None)


def _rows(dataset: str | Path, complain: Complain) -> Iterator[Located]:
    if str(dataset).startswith(PREFIX):
        return hub_rows(str(dataset))
    if not Path(dataset).is_file():
        raise SettingsError(
            f"no dataset is called {str(dataset)!r}; give a file, hf:owner/name:split, or one of "
            + ", ".join(map(str, ALMANACS))
        )
    return _of_file(Path(dataset), complain)


def _of_file(path: Path, complain: Complain) -> Iterator[Located]:
    try:
        with path.open("rb") as raw:
            file = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
            yield from with_aliases(records(cast(BinaryIO, file), str(path), complain), path, complain)
    except (OSError, EOFError, zlib.error) as error:
        raise KnowwhenError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _questions(
    rows: Iterator[Located], form: Form | None, name: str, complain: Complain
) -> Iterator[GoldQuestion]:
    ids = Ids()
    last: Located | None = None
    found = False
    try:
        for last in rows:
            form = form or form_of(last.record)
            if form is None:
                complain(last.where, _unknown(last.record))
                continue
            for where, question in _of_record(form, last, complain):
                if ids.add(question.id):
                    found = True
                    yield question
                else:
                    complain(where, f"its id {question.id!r} is an earlier question's")
    finally:
        ids.close()
    if not found:
        raise KnowwhenError(f"{name} holds no question; give a dataset that does")


def _of_record(form: Form, located: Located, complain: Complain) -> Iterator[tuple[str, GoldQuestion]]:
    where = located.where
    try:
        parts = list(form.parts(located.record))
    except BadRecord as bad:
        complain(where, str(bad))
        return
    for place, part in enumerate(parts, start=1):
        where = f"{located.where}, question {place}" if len(parts) > 1 else located.where
        try:
            question = form.question(part, f"{form.kind}-{located.number}")
        except BadRecord as bad:
            complain(where, str(bad))
            continue
        reason = _unstorable(question)
        if reason:
            complain(where, reason)
        else:
            yield where, question


def _unstorable(question: GoldQuestion) -> str:
    """Why a question cannot be written down; empty if it can."""
    if not is_text(question.id):
        return "its id is no text"
    for name, type_ in (("kind", str), ("hops", int)):
        if not isinstance(question.metadata.get(name), type_ | None):
            return f"the {name} in its metadata is no {'text' if type_ is str else 'whole number'}"
    try:
        json.dumps(question.metadata, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"its metadata cannot be kept as JSON ({str(error).splitlines()[0]})"
    return ""


def _unknown(record: Record) -> str:
    fields = ", ".join(map(str, record))[:200]
    return f"with the fields {fields or 'none'} it is of no kind that is recognised; give the kind"
