"""Passages from plain text and Markdown: about a hundred words each, cut between paragraphs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from knowwhen.tools.entry import BadEntries, Entry

WORDS = 100
"""A passage takes paragraphs until it has this many words; a longer paragraph is cut between sentences."""
HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
FENCE = re.compile(r"\s*(```|~~~)")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def read_prose(file: BinaryIO, name: str, bad: BadEntries) -> Iterator[Entry]:
    """Read the passages of a text, titled by the nearest Markdown heading above or the file name."""
    path = Path(name)
    blocks = _paragraphs(file, name, bad, markdown=path.suffix.lower() == ".md")
    for index, (title, text, number) in enumerate(_passages(blocks, path.stem), start=1):
        yield Entry(f"{name}#{index}", title, text, name, name, number)


def _passages(blocks: Iterable[tuple[str, str, int]], stem: str) -> Iterator[tuple[str, str, int]]:
    """Gather paragraphs (heading, text, line) under one heading into passages (title, text, line)."""
    gathered: list[str] = []
    words, current, start = 0, "", 0
    for heading, paragraph, number in blocks:
        for piece in _pieces(paragraph):
            size = len(piece.split())
            if gathered and (heading != current or words + size > WORDS):
                yield current or stem, "\n".join(gathered), start
                gathered, words = [], 0
            if not gathered:
                current, start = heading, number
            gathered.append(piece)
            words += size
    if gathered:
        yield current or stem, "\n".join(gathered), start


def _pieces(paragraph: str) -> Iterator[str]:
    """Cut a paragraph that is too long for a passage between sentences, and a sentence between words."""
    if len(paragraph.split()) <= WORDS:
        yield paragraph
        return
    piece: list[str] = []
    for sentence in SENTENCE_END.split(paragraph):
        words = sentence.split()
        if piece and len(piece) + len(words) > WORDS:
            yield " ".join(piece)
            piece = []
        piece += words
        while len(piece) > WORDS:
            yield " ".join(piece[:WORDS])
            piece = piece[WORDS:]
    if piece:
        yield " ".join(piece)


def _paragraphs(file: BinaryIO, name: str, bad: BadEntries, markdown: bool) -> Iterator[tuple[str, str, int]]:
    """The paragraphs of a text with the heading they stand under and the line they begin in."""
    heading, lines, start, fenced = "", list[str](), 0, False
    for number, raw in enumerate(file, start=1):
        try:
            line = raw.decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            bad.report(f"{name}:{number}", f"this is not UTF-8 ({error.reason})")
            continue
        fenced ^= markdown and bool(FENCE.match(line))
        title = HEADING.match(line) if markdown and not fenced else None
        if lines and (not line or title):
            yield heading, " ".join(lines), start
            lines = []
        if title:
            heading = title.group(1)
        elif line:
            start = start if lines else number
            lines.append(line)
    if lines:
        yield heading, " ".join(lines), start
