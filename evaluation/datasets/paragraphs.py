"""The paragraphs that a dataset carries, as a corpus: what `knowwhen index build` takes beside corpora.

A paragraph that several questions carry is stored once; its id is its own in the dataset or, as a rule, a
hash of its title and text, and so the same in every file and every build.
"""

import json
from collections.abc import Iterator
from typing import BinaryIO

from knowwhen.evaluation.datasets.fields import is_text
from knowwhen.evaluation.datasets.form import BadRecord, Form
from knowwhen.evaluation.datasets.forms import form_of
from knowwhen.evaluation.datasets.iirc_articles import are_articles, read_articles
from knowwhen.evaluation.datasets.located import Located, records
from knowwhen.models.errors import KnowwhenError, RetrievalError
from knowwhen.tools.corpus import READERS, Reader
from knowwhen.tools.entry import BadEntries, Entry
from knowwhen.tools.tables import read_jsonl

TEXT = frozenset(("text", "contents"))
"""A line with one of these is a passage of a corpus and no question."""
ACCEPTED = "give a corpus, or a dataset with paragraphs (docs/datasets.md)"


def read_paragraphs(file: BinaryIO, name: str, bad: BadEntries) -> Iterator[Entry]:
    """The paragraphs of a dataset's file, as entries of a corpus.

    Args:
        file: at its beginning.
        name: the file's, for errors and as the source.
        bad: what becomes of a record whose paragraphs cannot be read.

    Raises:
        RetrievalError: the file is no dataset's, carries no paragraphs, or a record is bad.
    """
    form: Form | None = None
    found = False
    try:
        if are_articles(name):
            yield from read_articles(file, name, bad)
            return
        for located in records(file, name, bad.report):
            form = form or form_of(located.record)
            if form is None:
                raise RetrievalError(f"{located.where}: this is a record of no known dataset; {ACCEPTED}")
            for entry in _entries(form, located, name, bad):
                found = True
                yield entry
    except RetrievalError:
        raise
    except KnowwhenError as error:
        raise RetrievalError(str(error)) from None
    if not found:
        raise RetrievalError(f"{name} carries no paragraphs; {ACCEPTED}")


def read_lines_of_either(file: BinaryIO, name: str, bad: BadEntries) -> Iterator[Entry]:
    """The passages of JSON lines, or the paragraphs if the first line is a dataset's question."""
    line = next((line for line in file if line.strip()), b"")
    file.seek(0)
    return (read_paragraphs if _is_question(line) else read_jsonl)(file, name, bad)


CORPUS_READERS: dict[str, Reader] = {**READERS, ".jsonl": read_lines_of_either, ".json": read_paragraphs}
"""How each kind of file is read as a corpus, a dataset's among them."""


def _is_question(line: bytes) -> bool:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and TEXT.isdisjoint(record) and form_of(record) is not None


def _entries(form: Form, located: Located, name: str, bad: BadEntries) -> Iterator[Entry]:
    try:
        for paragraph in form.paragraphs(located.record):
            if is_text(paragraph.text) and (not paragraph.title or is_text(paragraph.title)):
                yield Entry(
                    paragraph.id, paragraph.title, paragraph.text, name, name, located.number, repeats=True
                )
            else:
                bad.report(located.where, f"its paragraph {paragraph.title[:40]!r} has no text")
    except BadRecord as error:
        bad.report(located.where, str(error))
