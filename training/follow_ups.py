"""Follow-up questions: a wording of the almanac's with a word such as "she" or "it" in the name's place."""

import random
import re
from collections.abc import Callable

PERSONS = (("he", "him", "his"), ("she", "her", "her"))
THINGS, TEAMS = ("it", "it", "its"), ("they", "them", "their")
OPENINGS = ("And {}", "{}", "And {}", "Also, {}", "Then {}")
OTHERS = ("And {}?", "What about {}?", "And what about {}?", "How about {}?", "And {}, then?")
_OF = re.compile(r"\bthe ((?:\w+ )?\w+) of \{s\}")
_OBJECT = re.compile(r"(?:went to|trains|heads|founded|wrote|directed|leads|governs|in|of|is) \{s\}")


def referring(wording: str, kind: str, rng: random.Random) -> str:
    """A question's wording with the name of somebody or something of this kind, `{s}`, only referred to.

    >>> referring("What is the birthplace of {s}?", "person", random.Random(1))
    'What is her birthplace?'
    """
    forms = TEAMS if kind == "team" else THINGS
    subject, object_, whose = rng.choice(PERSONS) if kind == "person" else forms
    if kind in ("city", "country") and "of {s}" in wording and rng.random() < 0.2:
        return wording.replace("of {s}", "there")
    if _OF.search(wording) and rng.random() < 0.75:
        return _OF.sub(rf"{whose} \1", wording)
    return wording.format(s=object_ if _OBJECT.search(wording) else subject)


def opened(question: str, choose: Callable[[tuple[str, ...]], str]) -> str:
    """A follow-up with or without a word such as "And" before it."""
    opening = choose(OPENINGS)
    return opening.format(question if opening == "{}" else question[0].lower() + question[1:])
