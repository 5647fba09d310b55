"""Names that no world has, of any letters: copying must not hang on the almanac's words."""

import random
from collections.abc import Iterable

_BEGINNINGS = (
    "b", "c", "ch", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "qu", "r", "s", "sh", "st", "t", "th",
    "tr", "v", "w", "x", "y", "z", "br", "gr", "Ł", "É", "Ö",
)  # fmt: skip
_MIDDLES = ("a", "e", "i", "o", "u", "ai", "ee", "oo", "ia", "y", "é", "ö", "ä", "ou")
_ENDINGS = (
    "n", "r", "s", "l", "m", "nd", "ng", "rt", "x", "ck", "tz", "lia", "ska", "ville", "berg", "ton", "ez",
    "-", "'s",
)  # fmt: skip
_WORDS = (
    "The", "of", "and", "Great", "Little", "Old", "House", "Night", "River", "King", "Song", "Last", "Winter",
    "Golden", "War", "Sea", "Story", "Garden", "United", "Northern", "Street", "Love", "Lost", "Jr.", "II",
    "2001",
)  # fmt: skip


def invented(rng: random.Random) -> str:
    """One to three words."""
    words = [_word(rng) for _ in range(rng.choice((1, 2, 2, 2, 3)))]
    if rng.random() < 0.2:
        words.insert(rng.randrange(len(words)), rng.choice(_WORDS))
    return " ".join(words)


def _word(rng: random.Random) -> str:
    syllables = (rng.choice(_BEGINNINGS) + rng.choice(_MIDDLES) for _ in range(rng.choice((1, 2, 2, 3))))
    word = "".join(syllables) + (rng.choice(_ENDINGS) if rng.random() < 0.6 else "")
    return word[0].upper() + word[1:].rstrip("-")


def renaming(names: Iterable[str], rng: random.Random) -> dict[str, str]:
    """An invented name for each name, the longest first, so that none is replaced within another."""
    return {name: invented(rng) for name in sorted(set(names), key=lambda name: (-len(name), name))}
