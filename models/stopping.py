"""Stop strings: where a text ends, decided while it grows."""

from collections.abc import Sequence


class StopStrings:
    """Passes a growing text on until a stop string appears, and holds back what may become one.

    The stop string that is complete first counts, and of two complete at the same place the longer, so the
    cut does not depend on how the text was divided into pieces.

        >>> guard = StopStrings(["\\n\\n"])
        >>> guard.push("Paris\\n"), guard.push("\\nQuestion:"), guard.found
        ('Paris', '', True)
    """

    def __init__(self, stop: Sequence[str]):
        self._stop = tuple(stop)
        self._held = ""
        self.found = False

    def push(self, piece: str) -> str:
        """Take the next piece of text and return what is now certain to stand before any stop string."""
        if self.found:
            return ""
        text = self._held + piece
        ends = [(at + len(stop), at) for stop in self._stop if (at := text.find(stop)) >= 0]
        if ends:
            self.found, self._held = True, ""
            return text[: min(ends)[1]]
        keep = len(text) - max((overlap(text, stop) for stop in self._stop), default=0)
        self._held = text[keep:]
        return text[:keep]

    def rest(self) -> str:
        """What was held back, once the text has ended without becoming a stop string."""
        rest, self._held = self._held, ""
        return rest


def overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that is a beginning of `stop`, but not all of it."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)
