"""The form of a dataset: how its records are known, and what they say."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from knowwhen.evaluation.datasets.gold import GoldQuestion

Record = Mapping[str, Any]


class BadRecord(Exception):
    """A record is not as its form has it; the message says what is wrong."""


class Paragraph(NamedTuple):
    """A text that a dataset carries."""

    title: str
    text: str
    supporting: bool = False
    """Whether the question's answer is taken from it."""
    own_id: str = ""
    """Its id in the dataset, where it has one for good and not one for each question."""

    @property
    def id(self) -> str:
        """The same for the same paragraph wherever it stands: 80 bits of a hash of its title and text."""
        content = f"{self.title}\0{self.text}".encode(errors="surrogatepass")
        return self.own_id or hashlib.sha256(content).hexdigest()[:20]


def itself(record: Record) -> Iterator[Record]:
    """A record that is one question."""
    yield record


def no_paragraphs(record: Record) -> Iterator[Paragraph]:
    """The paragraphs of a record that has none."""
    return iter(())


@dataclass(frozen=True)
class Form:
    """How a dataset is written down.

    `fits` takes any JSON object whatever. The others may raise `BadRecord`.
    """

    kind: str
    """Its name: `hotpotqa`."""
    fits: Callable[[Record], bool]
    """Whether a record is of this form."""
    question: Callable[[Record, str], GoldQuestion]
    """The question of a part; the text is its id if the dataset gives it none."""
    parts: Callable[[Record], Iterator[Record]] = itself
    """The parts of a record that are a question each."""
    paragraphs: Callable[[Record], Iterator[Paragraph]] = no_paragraphs
    """The paragraphs that a record carries."""


def supporting(paragraphs: Iterator[Paragraph]) -> list[str]:
    """The ids of those that support the answer."""
    return [paragraph.id for paragraph in paragraphs if paragraph.supporting]


def known(**metadata: Any) -> dict[str, Any]:
    """Metadata without what is not known: None, and empty texts and lists."""
    return {name: value for name, value in metadata.items() if value not in (None, "", [], {})}
