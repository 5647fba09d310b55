"""Numbers in words or figures brought to one form: "twenty-one" and "21.0" to 21, "third" to 3rd."""

import re
from decimal import Decimal

ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SMALL = {word: number for number, word in enumerate(["zero", *ONES, *TEENS])}
LARGE = {word: 10 * number for number, word in enumerate(TENS, start=2)}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = (
    {f"{word}th": number for word, number in SMALL.items() if number}
    | {f"{word[:-1]}ieth": number for word, number in LARGE.items()}
    | {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
)

Read = tuple[Decimal, int]  # a number, and the place behind it


def in_figures(words: list[str]) -> list[str]:
    """`words`, in lower case, with the numbers among them in figures; "nineteen eighty four" is 19 and 84."""
    found: list[str] = []
    at = 0
    while at < len(words):
        nth = _ordinal(words, at)
        number = None if nth else _number(words, at)
        if nth:
            found.append(with_suffix(int(nth[0])))
        elif number:
            found.append(_plain(number[0]))
        else:
            found.append(words[at])
        at = nth[1] if nth else number[1] if number else at + 1
    return found


def with_suffix(number: int) -> str:
    """3rd for 3."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _ordinal(words: list[str], at: int) -> Read | None:
    if words[at] in ORDINALS:
        return Decimal(ORDINALS[words[at]]), at + 1
    following = ORDINALS.get(_word(words, at + 1), 0)
    if words[at] in LARGE and 0 < following < 10:
        return Decimal(LARGE[words[at]] + following), at + 2
    return None


def _number(words: list[str], at: int) -> Read | None:
    """One number: groups below a thousand, each with its scale, in descending order."""
    total, largest, read = Decimal(0), 10**15, None
    while (group := _group(words, at)) or (read is None and words[at] in SCALES):
        value, behind = group or (Decimal(1), at)
        scale = SCALES.get(_word(words, behind), 1)
        if scale >= largest:
            break
        total, largest = total + value * scale, scale
        at = behind + (scale > 1)
        read = total, at
        if scale == 1:
            break
        at += _word(words, at) == "and"
    return read


def _group(words: list[str], at: int) -> Read | None:
    """A number below a thousand in words, or any in figures."""
    if _is_figure(_word(words, at)):
        return Decimal(words[at]), at + 1
    first = _below_hundred(words, at)
    hundreds = first or ((Decimal(1), at) if _word(words, at) == "hundred" else None)
    if hundreds is None or _word(words, hundreds[1]) != "hundred":
        return first
    value, at = 100 * hundreds[0], hundreds[1] + 1
    rest = _below_hundred(words, at + (_word(words, at) == "and"))
    return (value + rest[0], rest[1]) if rest else (value, at)


def _below_hundred(words: list[str], at: int) -> Read | None:
    word = _word(words, at)
    if word in SMALL:
        return Decimal(SMALL[word]), at + 1
    if word not in LARGE:
        return None
    following = SMALL.get(_word(words, at + 1), 0)
    if 0 < following < 10:
        return Decimal(LARGE[word] + following), at + 2
    return Decimal(LARGE[word]), at + 1


def _word(words: list[str], at: int) -> str:
    return words[at] if at < len(words) else ""


def _is_figure(word: str) -> bool:
    return re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?", word) is not None  # 007 is a name


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
