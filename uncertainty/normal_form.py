"""When two answers are the same without asking anyone: their normal forms are equal.

Case, accents, punctuation, articles, and how numbers, dates, yes and no are written do not count. The form is
for comparing, not for reading, and is strict where it is in doubt: answers that differ in it may yet mean the
same, which a judge can say (see `clusters`).
"""

import re
import unicodedata

from knowwhen.uncertainty.dates import in_order
from knowwhen.uncertainty.numerals import in_figures

_ACCENT = re.compile("[\u0300-\u036f]")
_WORD = re.compile(
    r"(?<![\w-])\d{4}-\d{1,2}-\d{1,2}(?![\w-])"  # a date
    r"|(?:(?<![\w.])-)?\d+(?:[./]\d+)*(?!\w)"  # a number; a dash between two is none
    r"|\w+(?:[+#]+(?!\w))?"  # C++, A+
)
_YES_OR_NO = re.compile(
    r"\W*(?P<said>yes|no)\b(?:\W*$|\s*[,;:!—–-]|\.(?!\s*\d)"  # "No. 5" is a name
    r"|,?\s+(?:it|he|she|they|that|this|there|both|neither|i|we|you)\b)"
)
_ARTICLES = {"a", "an", "the"}


def normal_form(answer: str) -> str:
    """What is left of an answer when the ways of writing it are taken away."""
    text = _ACCENT.sub("", unicodedata.normalize("NFKD", answer).casefold())
    said = _YES_OR_NO.match(text)
    if said:
        return said["said"]
    text = re.sub(r"['’‘`]", "", text.replace("_", " ").replace("−", "-").replace("&", " and "))
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.replace("%", " percent "))  # 1,000
    words = _without_articles(_initials_joined(_WORD.findall(text)))
    return in_order(" ".join(in_figures(words))) or answer.strip().casefold()


def _initials_joined(words: list[str]) -> list[str]:
    """`words` with runs of single letters as one: U.S. is US, and J. R. R. Tolkien is J.R.R."""
    joined: list[str] = []
    run = False
    for word in words:
        letter = len(word) == 1 and word.isalpha()
        if letter and run:
            joined[-1] += word
        else:
            joined.append(word)
        run = letter
    return joined


def _without_articles(words: list[str]) -> list[str]:
    """`words` without articles; one at the end is none, as in vitamin A."""
    return [word for word in words[:-1] if word not in _ARTICLES] + words[-1:]
