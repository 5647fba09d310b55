"""The articles that IIRC's passages link to: `context_articles.json`, an object with a page under each title.

A page is HTML with its links. As in Trivedi et al. 2023 (IRCoT), each of its lines with more than ten words
is a paragraph; the others are headings and stubs.
"""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import PurePath
from typing import BinaryIO

from knowwhen.evaluation.datasets.document import read_members
from knowwhen.evaluation.datasets.fields import is_text
from knowwhen.evaluation.datasets.form import Paragraph
from knowwhen.tools.entry import BadEntries, Entry

FILE = "context_articles.json"
FEWEST = 11  # words of a paragraph


def are_articles(name: str) -> bool:
    """Whether a file is this one, by its name; it may be packed."""
    return PurePath(name).name.removesuffix(".gz") == FILE


def read_articles(file: BinaryIO, name: str, bad: BadEntries) -> Iterator[Entry]:
    """The paragraphs of all articles, as entries of a corpus.

    Args:
        file: at its beginning.
        name: the file's, for errors and as the source.
        bad: what becomes of an article that is no text.

    Raises:
        KnowwhenError: the file is damaged.
        RetrievalError: an article is no text.
    """
    for number, (title, page) in enumerate(read_members(file, name), start=1):
        if not is_text(title) or not is_text(page):
            bad.report(f"{name}, article {number}", "it is no text under a title")
            continue
        for text in _paragraphs(page):
            yield Entry(Paragraph(title, text).id, title, text, name, name, number, repeats=True)


def _paragraphs(page: str) -> Iterator[str]:
    reader = _Text()
    reader.feed(page)
    reader.close()
    for line in "".join(reader.texts).splitlines():
        words = line.split()
        if len(words) >= FEWEST:
            yield " ".join(words)


class _Text(HTMLParser):
    """What a page says, without its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
