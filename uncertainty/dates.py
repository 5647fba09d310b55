"""Dates brought to one form: "12 March 1999" and "March the 12th, 1999" to 1999-03-12."""

import re

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS) + "|sept"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{3,4})"
_FORMS = [
    re.compile(form)
    for form in (
        rf"\b{_DAY} (?:of )?(?P<month>{_MONTH})(?: {_YEAR})?\b",
        rf"\b(?P<month>{_MONTH}) {_DAY}\b(?: {_YEAR}\b)?",
        rf"\b(?P<month>{_MONTH}) (?:of )?{_YEAR}\b",
        r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?![\w-])",
    )
]
_WHEN = re.compile(r"(?:in|on) (\d{3,4}(?:-\d\d){0,2}|\d\d-\d\d)")


def in_order(text: str) -> str:
    """`text`, in lower case and without punctuation, with year, month and day of every date in this order.

    "In 1999" and "on 12 March" are the dates alone.
    """
    for form in _FORMS:
        text = form.sub(_in_order, text)
    when = _WHEN.fullmatch(text)
    return when[1] if when else text


def _in_order(date: re.Match[str]) -> str:
    parts = {"year": None, "day": None} | date.groupdict()
    named = parts["month"] or ""
    month = int(named) if named.isdecimal() else [name[:3] for name in MONTHS].index(named[:3]) + 1
    day = f"{int(parts['day']):02}" if parts["day"] else None
    return "-".join(part for part in (parts["year"], f"{month:02}", day) if part)
