"""How well a model does what talks with tools show: each reply is asked for by itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from knowwhen.training.tool_requests import Skill
from knowwhen.training.tool_talks import Talk

SKILLS: tuple[Skill, ...] = get_args(Skill)


@dataclass
class ToolFigures:
    """Counts of one skill.

    Attributes:
        asked: replies asked for.
        form: those of the right form: one call and no text, or text and no call.
        copied: calls with the right argument, word for word; texts that hold what the tool returned.
        tool: calls of the right tool.
        right: replies right in all.
    """

    asked: int = 0
    form: int = 0
    copied: int = 0
    tool: int = 0
    right: int = 0

    def add(self, reply: AIMessage, wanted: AIMessage) -> None:
        """Count one reply."""
        form = _form(reply) == _form(wanted)
        copied = form and _said(reply) == _said(wanted)
        tool = form and _tool(reply) == _tool(wanted)
        self.asked += 1
        self.form += form
        self.copied += copied
        self.tool += tool
        self.right += copied and tool


def tool_figures(model: BaseChatModel, talks: Iterable[Talk], each: int) -> Mapping[Skill, ToolFigures]:
    """Ask for the replies of talks, each behind what the talk says before it, until each skill has `each`."""
    figures = {skill: ToolFigures() for skill in SKILLS}
    for talk in talks:
        if all(figure.asked >= each for figure in figures.values()):
            break
        bound = model.bind_tools(talk.schemas)
        before: list[BaseMessage] = []
        for exchange in talk.exchanges:
            before.append(exchange.said)
            if figures[exchange.skill].asked < each:
                figures[exchange.skill].add(bound.invoke(before), exchange.reply)
            before.append(exchange.reply)
    return figures


def _form(message: AIMessage) -> tuple[int, int, bool]:
    return len(message.tool_calls), len(message.invalid_tool_calls), bool(str(message.content).strip())


def _said(message: AIMessage) -> object:
    return [list(call["args"].values()) for call in message.tool_calls], " ".join(
        str(message.content).split()
    )


def _tool(message: AIMessage) -> list[str]:
    return [call["name"] for call in message.tool_calls]
