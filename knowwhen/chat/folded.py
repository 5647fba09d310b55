"""A turn in a line: which tools answered, how, from what."""

from knowwhen.chat.turn import STOPPED, Call, Turn
from knowwhen.in_words import many
from knowwhen.tools.tool_content import FROM_MEMORY, MOST_SOURCES, SOURCES

SIGN = "▸"
NO_TOOL = "no tool was called"
CUT = "cut off at the model's bound of tokens"


def folded(turn: Turn) -> str:
    """How a turn was answered, without its tree: `▸ self_dc: 3 questions, 1 looked up, 4 model calls · …`."""
    parts = [counts(call) for call in turn.calls] or [NO_TOOL if turn.answer else STOPPED]
    if any(not call.error for call in turn.calls):
        parts.append(sources_line(turn))
    if turn.cut:
        parts.append(CUT)
    return f"{SIGN} {' · '.join(parts)}"


def counts(call: Call) -> str:
    """How much a tool did, or what it failed of."""
    if call.error:
        return f"{call.tool} failed: {call.error}"
    if not call.steps:
        return f"{call.tool}: {many(len(call.passages), 'passage')}"
    looked_up = sum(step["route"] == "retrieve" for step in call.steps)
    return ", ".join(
        [
            f"{call.tool}: {many(len(call.steps), 'question')}",
            f"{looked_up or 'nothing'} looked up",
            many(call.cost["model_calls"], "model call"),
        ]
    )


def sources_line(turn: Turn) -> str:
    """The titles of what was read, the first few of them."""
    titles = turn.sources
    more = f"; {len(titles) - MOST_SOURCES} more" if len(titles) > MOST_SOURCES else ""
    none = FROM_MEMORY if any(call.steps for call in turn.calls) else "none"
    return f"{SOURCES}{'; '.join(titles[:MOST_SOURCES]) or none}{more}"
