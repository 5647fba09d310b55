"""Verbalised confidence: what the model says of its own answer.

Range: [0, 1], the stated 0 to 100 divided by 100; higher is surer. Cost: one call, in which the answer is
stated too. Source: Self-DC, section 4.2 and Table 21; after Lin et al. 2022.
"""

import re

_NUMBER = re.compile(
    r"confidence[^\d\n:=]*(?:\(\s*0\s*(?:-|–|to)\s*100\s*%?\s*\))?[^\d\n]*?"
    r"(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>%|/\s*100?\b)?",
    re.IGNORECASE,
)


def verbalised(text: str) -> float | None:
    """The confidence that a reply states, in [0, 1]; None if it states none, or one out of range.

    Read are "Confidence: 80", "Confidence (0-100): 80%", "confidence = 0.8", "Confidence: 8/10" and
    "Confidence: 80/100"; the last one stated counts, since models think before they settle.
    """
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    number = float(found[-1]["number"].replace(",", "."))
    unit = (found[-1]["unit"] or "").replace(" ", "")
    if unit == "/10":
        number *= 10
    elif not unit and "." in found[-1]["number"] and number <= 1:
        number *= 100
    return number / 100 if 0 <= number <= 100 else None
