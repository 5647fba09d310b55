"""JSON as models write it: in prose or in fences, with commas too many, braces too few and names twice."""

import json
import re
from typing import Any

import json_repair

from knowwhen.models.faults import shortened

LONGEST = 50_000  # letters that are looked at
MOST_FAULTY = 8_000  # letters that are repaired, which takes longer than in proportion
MOST_UNCLOSED = 2  # brackets; more are missing where a reply was cut off


class NoJSON(ValueError):
    """A reply in which no JSON can be read; says why."""


class Object(tuple[tuple[str, Any], ...]):
    """An object of JSON: its names, of which one may come twice, with what stands behind them."""


# Parsers of JSON drop a name that comes again, and may end a text at an apostrophe or quotation mark in it.
# Hence every name is made another by a mark behind it, and what only looks like the end of a text is hidden.
_MARK = "\ue000"
_APOSTROPHE = "\ue001"
_HIDDEN = str.maketrans("“”„", "\ue002\ue003\ue004")
_SHOWN = str.maketrans("\ue001\ue002\ue003\ue004", "'“”„")
_NAME_ENDS = re.compile(r"(?<=\w)(?=[\"'”]?\s*:)")
_IN_WORDS = re.compile(r"(?<=\w)'(?=\w|\s\w)")
_TYPOGRAPHIC = re.compile(r"[{[,:]\s*[“”]\w+[“”]\s*:")  # quotation marks that are the JSON's own
_PLACE = re.compile(r"\{\s*\w+\s*\}|\[\s*\d+\s*\]")  # {X} and [1], as in prose: no JSON
_BEGINS = re.compile(rf"\{{\s*(?:[\"'“/#]|\w+{_MARK})|\[\s*[{{\[\"'“]")


def values_in(reply: str) -> list[Any]:
    """All JSON values in a reply, with texts on one line and each object an `Object`.

    From the first faulty one on all are repaired together.

    Raises:
        NoJSON: There is none, or one that is cut off or too long.
        RecursionError: One is nested too deeply.
    """
    if len(reply) > LONGEST:
        raise NoJSON(f"a reply of {len(reply):,} letters is too long")
    text, values, at = _marked(reply.rpartition("</think>")[2]), [], 0
    while found := _BEGINS.search(text, at):
        try:
            value, at = json.JSONDecoder().raw_decode(text, found.start())
        except ValueError:
            value, at = _repaired(text[found.start() :]), len(text)
        values.append(_unmarked(value))
    if not values:
        raise NoJSON(f"no JSON in {shortened(reply)!r}")
    return values


def _repaired(text: str) -> Any:
    if len(text) > MOST_FAULTY:
        raise NoJSON(f"{len(text):,} letters of faulty JSON are too many")
    brackets = _PLACE.sub("", text)
    unclosed = len(re.findall(r"[{\[]", brackets)) - len(re.findall(r"[}\]]", brackets))
    behind = re.split(r"[}\]]", brackets)[-1]
    if unclosed > MOST_UNCLOSED or (unclosed > 0 and not re.match(r"[ \t]*(?:$|\r?\n|```)", behind)):
        raise NoJSON("the JSON is cut off")
    try:
        return json_repair.loads(text, skip_json_loads=True)
    except ValueError as error:
        raise NoJSON(f"no JSON can be made of {shortened(_plain(text))!r}: {error}") from None


def _marked(reply: str) -> str:
    text = _IN_WORDS.sub(_APOSTROPHE, _plain(reply))
    if not _TYPOGRAPHIC.search(text):
        text = text.translate(_HIDDEN)
    return _NAME_ENDS.sub(lambda end: f"{_MARK}{end.start()}{_MARK}", text)


def _plain(text: str) -> str:
    return re.sub(f"{_MARK}\\d*{_MARK}?", "", text).translate(_SHOWN)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return Object((_unmarked(name), _unmarked(each)) for name, each in value.items())
    if isinstance(value, list):
        return [_unmarked(each) for each in value]
    return " ".join(_plain(value).split()) if isinstance(value, str) else value
