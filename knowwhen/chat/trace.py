"""A turn unfolded: each tool's question tree with routes, scores and passages, and what all of it cost."""

from collections.abc import Iterable
from io import StringIO
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from knowwhen.chat.folded import NO_TOOL, sources_line
from knowwhen.chat.turn import STOPPED, Call, Turn
from knowwhen.in_words import cost_line
from knowwhen.tools.passage import Passage, name_of
from knowwhen.tools.printable import printable
from knowwhen.tree import QuestionTree, row_text

FIRST_WORDS = 72  # characters of a passage
WIDTH = 100  # characters of a line in a file


def trace(turn: Turn) -> Group:
    """All that is known of how a turn was answered, for rich."""
    shown: list[RenderableType] = []
    for call in turn.calls:
        shown.append(heading(call.tool, "" if call.steps else call.asked))
        shown += _unfolded(call)
    told = sources_line(turn) if turn.calls else NO_TOOL if turn.answer else STOPPED
    shown.append(Text(printable(told), style="dim"))
    shown.append(Text(f"in all, with the agent's own calls: {cost_line(turn.cost)}", style="dim"))
    return Group(*shown)


def trace_text(turn: Turn, width: int = WIDTH) -> str:
    """The same as plain text, in lines of so many characters at most."""
    page = Console(file=StringIO(), width=width, color_system=None, force_terminal=False)
    page.print(trace(turn))
    written: str = page.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in written.splitlines())


def heading(tool: str, asked: str) -> Text:
    """A tool and what it was asked; nothing where its tree begins with that."""
    asked = f": {printable(asked)}" if asked else ""
    return Text(printable(tool), style="bold").append(asked, style="not bold")


def _unfolded(call: Call) -> Iterable[RenderableType]:
    if call.error:
        yield Text(f"failed: {printable(call.error)}", style="red")
        return
    if call.steps:
        tree = QuestionTree(row_with_passages)
        for step in call.steps:
            tree.add(step)
        yield tree
        yield Text(cost_line(call.cost), style="dim")
    else:
        yield Text("\n").join(map(_passage_text, call.passages)) if call.passages else Text("nothing found")


def row_with_passages(step: dict[str, Any]) -> Text:
    """A question as in the tree, and what was read for its answer."""
    text = row_text(step)
    if step["resolved"] != step["question"]:
        text.append(f"\nasked as: {printable(step['resolved'])}", style="dim")
    for passage in step["passages"]:
        text.append("\n").append(_passage_text(passage))
    return text


def _passage_text(passage: Passage) -> Text:
    name, words = (" ".join(printable(part).split()) for part in (name_of(passage), passage["text"]))
    first = words if len(words) <= FIRST_WORDS else words[:FIRST_WORDS].rpartition(" ")[0] + " …"
    return Text(f"[{passage['rank']}] ", style="dim").append(f"{name}: {first}")
