"""Texts of others as they are shown: what a browser or an editor would take for a command is replaced."""

import unicodedata

REPLACED = "\N{REPLACEMENT CHARACTER}"
CELLS = {"exact_match": "EM", "f1": "F1"}  # as the papers' tables have them


def printable(text: str) -> str:
    """Text without control characters, among them those that turn the direction of writing around."""
    return "".join(character if _harmless(character) else REPLACED for character in text)


def heading(name: str) -> str:
    """A metric's or a count's name over a column."""
    return CELLS.get(name, name.replace("_", " "))


def _harmless(character: str) -> bool:
    if character in "\n\t":
        return True
    return unicodedata.category(character) not in {"Cc", "Cs"} and character not in TURNING


TURNING = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
"""Embeddings, overrides and isolates; the directional marks and right-to-left letters stay."""
