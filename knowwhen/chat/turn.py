"""One turn of a conversation: what was said, which tools were called, what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import takewhile
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.nodes.answered_calls import NO_ANSWER
from knowwhen.tools.passage import Passage, name_of
from knowwhen.tools.tool_content import ERROR, looked_up

STOPPED = "stopped before there was an answer"


@dataclass
class Call:
    """A tool that was called."""

    tool: str
    asked: str
    output: Any = None
    """Of a method its whole output, of a search the passages; None where it failed."""
    error: str = STOPPED
    """What it failed of, in one line; empty if it did not."""

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The questions that a method answered, in that order."""
        return list(self.output["steps"]) if isinstance(self.output, Mapping) else []

    @property
    def passages(self) -> list[Passage]:
        """What was read, in the order read."""
        if isinstance(self.output, list):
            return self.output
        return [passage for step in self.steps for passage in step["passages"]]

    @property
    def found(self) -> list[Passage]:
        """Of these what was looked up, not written by the model itself."""
        return self.output if isinstance(self.output, list) else looked_up(self.steps)

    @property
    def cost(self) -> Cost:
        """What it cost; of a failed call nothing is known."""
        if isinstance(self.output, list):
            return {**NO_COST, "retrievals": 1, "passages": len(self.output)}
        return add_costs(NO_COST, self.output["cost"] if isinstance(self.output, Mapping) else {})


@dataclass
class Turn:
    """A message of the user and everything up to the next."""

    question: str
    answer: str = ""
    """Empty while there is none, and for good in a turn that failed or was stopped."""
    calls: list[Call] = field(default_factory=list)
    cut: bool = False
    """Whether the answer is cut off, as it came to the model's bound of tokens."""
    own_cost: Cost = field(default_factory=lambda: NO_COST)
    """Of the agent's own model calls."""

    @property
    def sources(self) -> list[str]:
        """The titles of all passages looked up, or what else they are called, each once."""
        names = (" ".join(name_of(passage).split()) for call in self.calls for passage in call.found)
        return list(dict.fromkeys(names))

    @property
    def cost(self) -> Cost:
        """What the turn cost, the tools' costs and the agent's own."""
        return reduce(add_costs, (call.cost for call in self.calls), self.own_cost)

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "question": self.question,
            "answer": self.answer,
            "cut": self.cut,
            "sources": self.sources,
            "calls": [vars(call) for call in self.calls],
            "cost": self.cost,
        }


def turns_of(messages: Sequence[AnyMessage]) -> list[Turn]:
    """The turns of a conversation, as its messages tell them."""
    turns: list[Turn] = []
    for place, message in enumerate(messages):
        if isinstance(message, HumanMessage):
            turns.append(Turn(message.text))
        elif isinstance(message, AIMessage) and turns and message.text != NO_ANSWER:
            turn = turns[-1]
            turn.own_cost = add_costs(turn.own_cost, _cost(message))
            turn.calls += _calls(message, messages[place + 1 :])
            turn.answer = "" if message.tool_calls or message.invalid_tool_calls else message.text.strip()
            turn.cut = _ended_by(message) in ("length", "max_tokens")
    return turns


def asked_of(arguments: Mapping[str, Any] | str | None) -> str:
    """What a tool is asked: the value of its one argument, or what could not be read as arguments."""
    return " ".join(map(str, arguments.values())) if isinstance(arguments, Mapping) else arguments or ""


def error_of(message: ToolMessage) -> str:
    """What a tool failed of; empty if it did not."""
    return message.text.removeprefix(ERROR) if message.status == "error" else ""


def _calls(message: AIMessage, behind: Sequence[AnyMessage]) -> Iterator[Call]:
    told = takewhile(lambda each: isinstance(each, ToolMessage), behind)
    answers = {each.tool_call_id: each for each in told if isinstance(each, ToolMessage)}
    for call in [*message.tool_calls, *message.invalid_tool_calls]:
        name, asked, answer = call["name"] or "?", asked_of(call["args"]), answers.get(call["id"] or "")
        yield Call(name, asked, answer.artifact, error_of(answer)) if answer else Call(name, asked)


def _ended_by(message: AIMessage) -> object:
    told = message.response_metadata
    return told.get("finish_reason") or told.get("stop_reason") or told.get("done_reason")


def _cost(message: AIMessage) -> Cost:
    used: Mapping[str, Any] = message.usage_metadata or {}
    tokens = {name: used.get(name, 0) for name in ("input_tokens", "output_tokens")}
    return add_costs({**NO_COST, "model_calls": 1, "sequences": 1}, tokens)
