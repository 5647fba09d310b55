"""What the pocket model learns of tools: talks in which it calls them, tells what they found, or asks back.

A talk may be about any world of the almanac and anything else, under the almanac's names and invented ones,
and what a tool says in it is not what the model remembers. So it learns to choose and to copy, and no facts:

- a question goes to a tool by its kind (`tool_for`), copied word for word;
- what the tool found becomes a sentence with its sources, and a failure is told;
- a question that refers to the last one ("And when was she born?") is put in full;
- a message that asks nothing is answered by asking back.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from knowwhen.training.examples import Examples
from knowwhen.training.invented import invented, renaming
from knowwhen.training.tool_replies import Exchange, ToolReplies
from knowwhen.training.tool_requests import METHODS, Request, Requests, Topic

M = TypeVar("M", bound=BaseMessage)

TOOLS = {**dict.fromkeys(METHODS, "question"), "search": "query"}  # each tool's argument
INSTEAD = ("self_dc", "taikc", "keqa", "seakr", "search")
"""The first of these that is there is called where the right one is not."""

INVENTED = 0.15  # of the talks: names of any letters
# Of tools and arguments of which nothing is known.
NAMES = ("ask", "look", "find", "answer", "wiki", "web", "text", "input", "q", "get", "fact", "my", "tool")


@dataclass(frozen=True)
class Talk:
    """Exchanges with these tools bound: the argument of each by its name."""

    tools: dict[str, str]
    exchanges: tuple[Exchange, ...]

    @property
    def messages(self) -> list[BaseMessage]:
        """The whole conversation."""
        return [message for each in self.exchanges for message in (each.said, each.reply)]

    @property
    def schemas(self) -> list[dict[str, object]]:
        """The tools as chat templates take them."""
        return [schema(name, argument) for name, argument in self.tools.items()]


def schema(name: str, argument: str) -> dict[str, object]:
    """A tool with one argument, a string."""
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": parameters}}


class Talks:
    """Draws talks about the worlds of `examples`; the same examples draw the same ones."""

    def __init__(self, examples: Examples) -> None:
        self.examples, self.rng = examples, examples.rng
        self.requests, self.replies = Requests(examples), ToolReplies(examples)

    def talk(self, requests: int | None = None) -> Talk:
        """One talk.

        Args:
            requests: how many messages the user writes; None: two, seldom one, as no more are shown at once.
        """
        tools = self._tools()
        exchanges: list[Exchange] = []
        topic: Topic | None = None
        failed: Request | None = None
        for _ in range(requests or self.rng.choice((1, 2, 2, 2, 2, 2))):
            request = self.requests.request(topic, failed, tools)
            topic, failed = request.topic or topic, None
            said = HumanMessage(request.text)
            if not request.tool:
                exchanges.append(Exchange(said, AIMessage(request.reply), request.skill))
                continue
            tool, asked = self._choice(request, tools)
            number = f"{len(exchanges):09}"
            call = {"name": tool, "args": {tools[tool]: asked}, "id": number, "type": "tool_call"}
            exchanges.append(Exchange(said, AIMessage("", tool_calls=[call]), request.skill))
            answered = self.replies.answered(request, tool, number)
            exchanges.append(answered)
            if answered.skill == "error":
                failed = request
            if topic is not None and request.answer not in str(answered.said.content):
                topic = replace(topic, answer=None)
        talk = Talk(tools, tuple(exchanges))
        return self._renamed(talk) if self.rng.random() < INVENTED else talk

    def follow_up(self) -> Talk:
        """A talk up to the call that a follow-up leads to, as it takes many to learn whom one is about."""
        while True:
            talk = self.talk(2)
            for place, exchange in enumerate(talk.exchanges):
                if exchange.skill == "follow_up":
                    return replace(talk, exchanges=talk.exchanges[: place + 1])

    def _tools(self) -> dict[str, str]:
        way = self.rng.random()
        if way < 0.12:
            return {self._word("_"): self._word("")}
        names = list(TOOLS)
        if way < 0.3:
            names = self.rng.sample(names, self.rng.randint(1, 4))
        elif way < 0.45:
            self.rng.shuffle(names)
        return {name: TOOLS[name] for name in names}

    def _word(self, joint: str) -> str:
        """The name of a tool, or of its argument, of which nothing is known."""
        return joint.join(self.rng.sample([*NAMES, invented(self.rng).split()[0].lower()], 2 if joint else 1))

    def _choice(self, request: Request, tools: dict[str, str]) -> tuple[str, str]:
        """The tool to call and what to ask of it."""
        if request.tool in tools:
            return request.tool, request.asked
        there = next((name for name in INSTEAD if name in tools), next(iter(tools)))
        return there, request.text if request.skill == "search" else request.asked

    def _renamed(self, talk: Talk) -> Talk:
        """The talk under invented names."""
        text = "\n".join(str(part) for message in talk.messages for part in _parts(message))
        named = renaming((n for n in self.examples.elsewhere.world.by_name if n in text), self.rng)

        def rename(text: str) -> str:
            for old, new in named.items():
                text = text.replace(old, new)
            return text

        exchanges = (
            Exchange(_with_texts(each.said, rename), _with_texts(each.reply, rename), each.skill)
            for each in talk.exchanges
        )
        return replace(talk, exchanges=tuple(exchanges))


def _parts(message: BaseMessage) -> Iterator[object]:
    yield message.content
    for call in getattr(message, "tool_calls", ()):
        yield from call["args"].values()


def _with_texts(message: M, change: Callable[[str], str]) -> M:
    update: dict[str, object] = {"content": change(str(message.content))}
    if isinstance(message, AIMessage):
        update["tool_calls"] = [
            {**call, "args": {name: change(value) for name, value in call["args"].items()}}
            for call in message.tool_calls
        ]
    return message.model_copy(update=update)
