"""The question tree on a terminal: question, route, score and answer, growing as a method runs."""

from collections.abc import Callable
from typing import Any

from rich.text import Text
from rich.tree import Tree

STYLES = {
    "generate": "green",
    "retrieve": "yellow",
    "decompose": "cyan",
    "direct": "blue",
    "confident": "green",
}
WORDS = {
    "generate": "generated",
    "retrieve": "retrieved",
    "decompose": "decomposed",
    "direct": "answered directly",
}


class QuestionTree:
    """The questions met so far; show it to rich at any time.

    Args:
        line: what is shown of a question; `row_text` if None.
    """

    def __init__(self, line: Callable[[dict[str, Any]], Text] | None = None) -> None:
        self.line = line or row_text
        self.rows: dict[str, dict[str, Any]] = {}

    def add(self, event: dict[str, Any]) -> None:
        """Take in a `route` or `step` event."""
        self.rows.setdefault(event["id"], {}).update(event)

    def __rich__(self) -> Tree:
        top = Tree("", hide_root=True, guide_style="dim")
        branches = {"": top}
        for place in sorted(self.rows, key=lambda place: [int(n) for n in place.split(".")]):
            mother = place.rpartition(".")[0]
            branch = branches.get(mother, top)
            branches[place] = branch.add(self.line(self.rows[place]))
        return top


def row_text(row: dict[str, Any]) -> Text:
    """One question as a line or two: asked, how answered and how sure, the answer, what went otherwise."""
    from knowwhen.tools.printable import printable

    route = row["route"]
    text = Text(printable(row["question"]))
    text.append("\n" + WORDS.get(route, route), style=STYLES.get(route, ""))
    if row.get("score") is not None:
        text.append(f" at {row.get('estimator') or 'confidence'} {row['score']:.2f}", style="dim")
    if "answer" in row:
        text.append(" → ")
        text.append(printable(row["answer"]), style="bold")
    for note in row.get("notes", ()):
        text.append(f"\n{printable(note)}", style="dim italic")
    return text
