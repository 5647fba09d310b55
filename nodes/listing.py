"""Questions that a model lists, one behind the other, as real models write them."""

import re
from itertools import pairwise

# What stands before a question, in the order looked for: "#1:" anywhere or "#1" at the start of a line; "1."
# or "Question 1:" there or behind a question mark; a bullet there.
_MARKS = (
    re.compile(r"[\"'*]{0,4}#{1,4}[ \t]?\d+[\"'*]{0,4}[ \t]?:|^[^\w\n#]{0,8}#\d+\**[ \t.)\-–]", re.MULTILINE),
    re.compile(
        r"(?:^[^\w\n]{0,8}|(?<=\?)[\s,;]{1,8})(?:(?:sub-?)?question |step |Q)?\(?\d{1,3}\**[.):](?!\d)",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(r"^[ \t]{0,8}[-*•]\s", re.MULTILINE),
)
_NUMBER = re.compile(r"\d+")
_QUOTED = re.compile(r'"([^"\n]+\?)"')
_AROUND = " \t,;:*_`-–[]{}"  # punctuation, Markdown, lists and code around a question


def listed(text: str) -> list[tuple[int | None, str]]:
    """The questions in a reply, each with its number if it has one.

    They stand behind `#1:`, `#2:`, …, one a line or all in one, or are numbered or bulleted otherwise. Of
    what stands behind a mark the first line counts; prose before the first mark is left out. Without any mark
    a question is one in quotes, as in a JSON list, else a line that ends in a question mark.
    """
    for form in _MARKS:
        marks = list(form.finditer(text))
        if marks:
            ends = [*(after.start() for _, after in pairwise(marks)), len(text)]
            found = [
                (_number(mark[0]), text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
            ]
            break
    else:
        lines = [line.strip() for line in text.splitlines()]
        plain = _QUOTED.findall(text) or [line for line in lines if line.endswith("?")]
        found = [(None, line) for line in plain]
    questions = ((number, _first_line(question)) for number, question in found)
    return [(number, question) for number, question in questions if question]


def bare(text: str) -> str:
    """A question's words alone, for telling whether two are the same."""
    return re.sub(r"\W+", " ", text).strip().casefold()


def _number(mark: str) -> int | None:
    found = _NUMBER.search(mark)
    return int(found[0]) if found else None


def _first_line(text: str) -> str:
    lines = (" ".join(line.split()).strip(_AROUND) for line in text.splitlines())
    line = next((line for line in lines if line), "")
    return line[1:-1].strip() if line[:1] == line[-1:] and line[:1] in ("'", '"') else line
