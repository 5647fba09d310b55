"""Texts of others as they are shown: what a terminal or a browser would take for a command is replaced."""

import unicodedata

REPLACED = "\N{REPLACEMENT CHARACTER}"
TURNING = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
"""Embeddings, overrides and isolates; the directional marks and right-to-left letters stay."""


def printable(text: str) -> str:
    """Text without control characters, among them those that turn the direction of writing around.

    Joiners, spaces of any width and soft hyphens stay, as emoji, Persian and French are written with them.
    """
    text = text.replace("\r\n", "\n")
    return "".join(character if _harmless(character) else REPLACED for character in text)


def _harmless(character: str) -> bool:
    if character in "\n\t":
        return True
    return unicodedata.category(character) not in {"Cc", "Cs"} and character not in TURNING
