"""The judge that asks nobody: the same are equal normal forms, and a date and itself less precisely.

"June 1982" is consistent with "June 10, 1982" (KEQA, section 3.3), and so are "1982" and "June 10". Their
normal forms differ, as two days of one month are not the same.
"""

import re
from collections.abc import Sequence

from knowwhen.uncertainty.judge import Judged
from knowwhen.uncertainty.normal_form import normal_form

_DATE = re.compile(
    r"(?P<year>\d{3,4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?"
    r"|(?P<a_month>\d\d)-(?P<a_day>\d\d)"  # of any year
)


class MatchJudge:
    """Compares normal forms; of two dates, it is enough that one says no more than the other."""

    name = "match"

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        """Judge all pairs, at no cost; 1 for the same, 0 for others."""
        return Judged(tuple(float(match(first, second)) for first, second in pairs))


def match(first: str, second: str) -> bool:
    """Whether two answers have one normal form, or are one date in two precisions."""
    one, other = normal_form(first), normal_form(second)
    return one == other or _is_part(one, other) or _is_part(other, one)


def _is_part(form: str, precise: str) -> bool:
    said = _said(form)
    return bool(said) and said <= _said(precise)


def _said(form: str) -> set[tuple[str, str]]:
    """What a normal form that is a date says: its year, month and day, as far as it has them."""
    date = _DATE.fullmatch(form)
    parts = date.groupdict() if date else {}
    return {(part.removeprefix("a_"), value) for part, value in parts.items() if value}
