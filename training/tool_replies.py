"""What tools answer in the talks that the pocket model learns them from, and what it is to make of that."""

import re
from dataclasses import dataclass
from pydoc_data.topics import topics

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from knowwhen.almanac.passages import AlmanacPassage
from knowwhen.models.errors import KnowwhenError
from knowwhen.tools.tool_content import ERROR, answer_content, error_content, search_content
from knowwhen.training.examples import Examples, passage
from knowwhen.training.tool_failures import FAILURES
from knowwhen.training.tool_pieces import Pieces, trained
from knowwhen.training.tool_requests import METHODS, Request, Skill, Topic

FAILED, WITHOUT, REMEMBERED = 0.18, 0.06, 0.15  # of the calls: an error, no answer, no sources

# The words of Python's own manual, which everyone has who has Python; another version's differ a little.
MANUAL = sorted(set(re.findall(r"[A-Za-z][a-z_]+", " ".join(topics.values()))))


@dataclass(frozen=True)
class Exchange:
    """One reply to learn, and what stands before it."""

    said: HumanMessage | ToolMessage
    reply: AIMessage
    skill: Skill


class ToolReplies:
    """Draws what tools answer, about the worlds of `examples`."""

    def __init__(self, examples: Examples) -> None:
        self.examples, self.rng = examples, examples.rng
        self.pieces = Pieces(examples)

    def answered(self, request: Request, tool: str, call: str) -> Exchange:
        """What the tool says to this call, and what the model makes of it."""
        way = self.rng.random()
        if way < FAILED:
            failure = self._failure()
            said = ToolMessage(ERROR + failure, tool_call_id=call, status="error", name=tool)
            return Exchange(said, AIMessage(f"This could not be looked up: {failure}"), "error")
        if tool == "search":
            return self._found(request, call, way > 1 - WITHOUT)
        if tool not in METHODS and self.rng.random() < 0.6:
            content = request.answer or self.pieces.any_answer()
            return self._told(content, f"The answer is {content}.", tool, call)
        titles = [*request.titles, *self._titles(self.rng.choice((0, 0, 1, 2, 2, 3, 5)))]
        if way > 1 - WITHOUT:
            content = answer_content("", titles)
            return self._told(content, f"I found no answer. {content.splitlines()[1]}", tool, call)
        if way > 1 - WITHOUT - REMEMBERED:
            titles = []
        answer = request.answer or self.pieces.any_answer()
        content = answer_content(answer, titles)
        return self._told(content, f"The answer is {answer}. {content.splitlines()[1]}", tool, call)

    def _told(self, content: str, reply: str, tool: str, call: str, skill: Skill = "answer") -> Exchange:
        return Exchange(ToolMessage(content, tool_call_id=call, name=tool), AIMessage(reply), skill)

    def _found(self, request: Request, call: str, nothing: bool) -> Exchange:
        if nothing:
            return self._told(search_content([]), "I found nothing.", "search", call, "found")
        told = self._passages(request.topic)
        content = search_content([passage(each.title, each.text) for each in told])
        first = f"I found {told[0].title}: {told[0].text}"
        return self._told(content, f"{first} {content.splitlines()[-1]}", "search", call, "found")

    def _passages(self, topic: Topic | None) -> list[AlmanacPassage]:
        corpus, subject = self.examples.corpus, topic.subject if topic else None
        own = [each for each in corpus if subject and each.title == subject.name][:1]
        return own + self.rng.sample(corpus, self.rng.randint(1 - len(own), 3 - len(own)))

    def _titles(self, count: int) -> list[str]:
        return [each.title for each in self.rng.sample(self.examples.corpus, count)]

    def _failure(self) -> str:
        a, b = self.pieces.names(2)
        failure = self.pieces.one(FAILURES) if self.rng.random() < 0.5 else self._any_words()
        failure = failure.format(a=a, b=b, n=self.rng.randint(1, 999))
        return error_content(KnowwhenError(failure)).removeprefix(ERROR)

    def _any_words(self) -> str:
        """Words in any order: of whole failures alone a model learns each by heart, and not to copy."""
        own = " ".join(trained(FAILURES, self.examples.held_out)).split()
        words = self.rng.choice((own, MANUAL, [*own, *self.rng.sample(MANUAL, len(own))]))
        return " ".join(self.rng.choices(words, k=self.rng.randint(2, 12))).rstrip(";:")
