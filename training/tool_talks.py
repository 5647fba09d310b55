"""What the pocket model learns of tools: talks in which it calls them, tells what they found, or asks back.

A talk may be about any world of the almanac and anything else, under the almanac's names and invented ones,
and what a tool says in it is not what the model remembers. So it learns to choose and to copy, and no facts:

- a question goes to a tool by its kind (`tool_for`), copied word for word;
- what the tool found becomes a sentence with its sources, and a failure is told;
- a question that refers to the last one ("And when was she born?") is put in full;
- a message that asks nothing is answered by asking back.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from knowwhen.almanac.passages import AlmanacPassage
from knowwhen.almanac.phrasing import phrasings
from knowwhen.almanac.questions import KINDS, AlmanacQuestion
from knowwhen.almanac.relations import relations_of
from knowwhen.almanac.world import Entity, name_words
from knowwhen.models.errors import KnowwhenError
from knowwhen.tools.tool_content import (
    ERROR,
    answer_content,
    error_content,
    search_content,
)
from knowwhen.training import asides, open_questions
from knowwhen.training.examples import Examples, passage
from knowwhen.training.follow_ups import OTHERS, opened, referring
from knowwhen.training.invented import invented, renaming
from knowwhen.training.tool_failures import FAILURES

Skill = Literal["question", "search", "follow_up", "again", "aside", "answer", "found", "error"]

M = TypeVar("M", bound=BaseMessage)

METHODS = ("self_dc", "keqa", "seakr", "taikc")
TOOLS = {**dict.fromkeys(METHODS, "question"), "search": "query"}  # each tool's argument
INSTEAD = (
    "self_dc",
    "taikc",
    "keqa",
    "seakr",
    "search",
)  # the first that is there, where the right one is not

SEARCHES = (
    *("Search for {a}.", "Search for {a}", "What do you find about {a}?", "Find {a}.", "Look up {a}."),
    *("Look for {a}", "Search: {a}", "What can you find on {a}?", "Find passages on {a}.", "Search {a}"),
    *("Show me passages about {a}.", "What do you find on {a}?", "Please search for {a}.", "Look {a} up."),
    *("Find something about {a}", "Please find {a}.", "Show me what you find about {a}.", "search for {a}"),
)
STEPWISE = (
    *("Think step by step: {q}", "Step by step: {q}", "{q} Think step by step.", "Reason it out: {q}"),
    *(
        "Please think step by step. {q}",
        "{q} Reason step by step.",
        "Think it through: {q}",
        "{q} Think it through.",
    ),
    *("Reason step by step: {q}", "{q} Step by step, please."),
)
NAMED = ("With {t}: {q}", "Use {t}: {q}", "{t}: {q}", "Ask {t}: {q}", "Please use {t}. {q}", "{q} Use {t}.")
AGAIN = ("Try again.", "Again, please.", "Please try again", "Once more.", "Try it again, please.", "again")
PHRASES = ("the director of {a}", "the author of {a}", "{a} and {b}", "films of {a}", "the history of {a}")

HELD_OUT_OF = 20  # wordings, at least: of fewer each is missed
INVENTED = 0.15  # of the talks: names of any letters
FAILED, WITHOUT, REMEMBERED = 0.14, 0.06, 0.15  # of the calls: an error, no answer, no sources


def tool_for(question: AlmanacQuestion) -> str:
    """The method that does best on a question's kind by docs/results.md, at the least cost."""
    if question.hops == 1:
        return "self_dc"
    return "keqa" if len(question.parts) > 1 else "taikc"


def trained(texts: Sequence[str], held_out: bool) -> list[str]:
    """Of wordings those that are trained on, or every fifth, which is held out; of a few all."""
    if len(texts) < HELD_OUT_OF:
        return list(texts)
    return [text for place, text in enumerate(texts) if (place % 5 == 4) == held_out]


@dataclass(frozen=True)
class Exchange:
    """One reply to learn, and what stands before it."""

    said: HumanMessage | ToolMessage
    reply: AIMessage
    skill: Skill


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


@dataclass(frozen=True)
class Topic:
    """What the last question was about, for the next one to refer to."""

    subject: Entity | None = None
    answer: Entity | None = None
    wording: str | None = None  # of a question for one fact, with the subject open
    relation: str | None = None


@dataclass(frozen=True)
class Request:
    """What a user says, what is to be asked of which tool, and what the tool will answer."""

    text: str
    skill: Skill
    topic: Topic | None
    tool: str = ""
    asked: str = ""
    answer: str = ""
    titles: tuple[str, ...] = ()
    reply: str = ""  # where no tool is called


class Talks:
    """Draws talks about the worlds of `examples`; the same examples draw the same ones."""

    def __init__(self, examples: Examples) -> None:
        self.examples, self.rng = examples, examples.rng

    def talk(self, requests: int | None = None) -> Talk:
        """One talk.

        Args:
            requests: how many messages the user writes; None: one or two, as no more are shown at once.
        """
        tools = self._tools()
        exchanges: list[Exchange] = []
        topic: Topic | None = None
        failed: Request | None = None
        for _ in range(requests or self.rng.choice((1, 2, 2, 2))):
            request = self._request(topic, failed, tools)
            topic, failed = request.topic or topic, None
            if not request.tool:
                exchanges.append(
                    Exchange(HumanMessage(request.text), AIMessage(request.reply), request.skill)
                )
                continue
            tool, asked = self._choice(request, tools)
            call = {
                "name": tool,
                "args": {tools[tool]: asked},
                "id": f"{len(exchanges):09}",
                "type": "tool_call",
            }
            exchanges.append(
                Exchange(HumanMessage(request.text), AIMessage("", tool_calls=[call]), request.skill)
            )
            answered = self._answered(request, tool, str(call["id"]))
            exchanges.append(answered)
            if answered.skill == "error":
                failed = request
            if topic is not None and request.answer not in str(answered.said.content):
                topic = replace(topic, answer=None)
        talk = Talk(tools, tuple(exchanges))
        return self._renamed(talk) if self.rng.random() < INVENTED else talk

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
        words = (
            "ask",
            "look",
            "find",
            "answer",
            "wiki",
            "web",
            "text",
            "input",
            "q",
            "get",
            "fact",
            "my",
            "tool",
        )
        return joint.join(self.rng.sample([*words, invented(self.rng).split()[0].lower()], 2 if joint else 1))

    def _choice(self, request: Request, tools: dict[str, str]) -> tuple[str, str]:
        """The tool to call and what to ask of it."""
        if request.tool in tools:
            return request.tool, request.asked
        there = next((name for name in INSTEAD if name in tools), next(iter(tools)))
        return there, request.text if request.skill == "search" else request.asked

    # What the user says.

    def _request(self, topic: Topic | None, failed: Request | None, tools: dict[str, str]) -> Request:
        if failed is not None and self.rng.random() < 0.3:
            return replace(failed, text=self._one(AGAIN), skill="again")
        makers: dict[Callable[[], Request | None], float] = {
            self.question: 34,
            self.open_question: 10,
            self.stepwise: 6,
            lambda: self.named(tools): 5,
            self.search: 10,
            lambda: self.aside(topic): 17,
        }
        if topic is not None:
            makers[lambda: self.follow_up(topic, "search" in tools)] = 50
        while True:
            (make,) = self.rng.choices(list(makers), list(makers.values()))
            if (request := make()) is not None:
                return request

    def question(self) -> Request:
        """A question about the world at hand, in the almanac's wordings."""
        kind = self.rng.choice(("one_hop", "one_hop", *KINDS))
        if kind == "one_hop":
            return self._single()
        question = next(q for q in iter(lambda: self.examples.elsewhere.draw(kind), ()) if q is not None)
        world = self.examples.elsewhere.world
        topic = Topic(answer=world.by_name.get(question.answers[0]))
        titles = tuple(fact.subject.name for fact in question.facts)
        asked = self._as_typed(question.question)
        return Request(asked, "question", topic, tool_for(question), asked, question.answers[0], titles)

    def _single(self) -> Request:
        fact = self.rng.choice(self.examples.elsewhere.facts)
        wording = self.rng.choice(phrasings(fact.relation, self.examples.held_out))
        topic = Topic(fact.subject, self._entity(fact.object), wording, fact.relation)
        asked = self._as_typed(wording.format(s=fact.subject.name))
        return Request(asked, "question", topic, "self_dc", asked, fact.object, (fact.subject.name,))

    def open_question(self) -> Request:
        """A question in words of which the almanac knows nothing."""
        tool, texts = self.rng.choice(
            (
                ("self_dc", open_questions.ONE_FACT),
                ("self_dc", open_questions.ONE_FACT),
                ("taikc", open_questions.CHAINED),
                ("keqa", open_questions.TOGETHER),
            )
        )
        (a, b), answer = self._names(2), self._any_answer()
        asked = self._as_typed(self._one(texts).format(a=a, b=b))
        return Request(asked, "question", Topic(), tool, asked, answer, (a,))

    def stepwise(self) -> Request:
        """A question that the user wants thought through."""
        return self._wrapped(STEPWISE, "seakr")

    def named(self, tools: dict[str, str]) -> Request | None:
        """A question with the name of the method that is to answer it."""
        there = [name for name in METHODS if name in tools]
        return self._wrapped(NAMED, self.rng.choice(there)) if there else None

    def _wrapped(self, texts: Sequence[str], tool: str) -> Request:
        request = self.question() if self.rng.random() < 0.8 else self.open_question()
        text = self._one(texts).format(q=request.asked, t=tool)
        return replace(request, text=text, tool=tool)

    def search(self) -> Request:
        """Something to look for, which is no question."""
        a, b = self._names(2)
        query = self._one(PHRASES).format(a=a, b=b) if self.rng.random() < 0.25 else a
        text = self._one(SEARCHES).format(a=query)
        return Request(text, "search", Topic(subject=self._entity(a)), "search", query)

    def follow_up(self, topic: Topic, may_search: bool) -> Request | None:
        """A question that needs the last one: about its subject, its answer, or another subject."""
        if topic.wording and topic.subject and self.rng.random() < 0.25:
            return self._of_another(topic)
        entities = [entity for entity in (topic.subject, topic.answer) if entity]
        if not entities:
            return None
        entity = self.rng.choice(entities)
        if may_search and len(entities) == 1 and self.rng.random() < 0.1:
            return self._searched(entity)
        relations = [r.name for r in relations_of(entity.kind) if r.name != topic.relation]
        if not relations or (len(entities) == 2 and entities[0].kind == entities[1].kind):
            return None
        relation = self.rng.choice(relations)
        wording = self.rng.choice(phrasings(relation, self.examples.held_out))
        text = opened(referring(wording, entity.kind, self.rng), self._one)
        return self._about(entity, relation, wording, text)

    def _of_another(self, topic: Topic) -> Request:
        """The last question about somebody or something else."""
        assert topic.subject and topic.wording and topic.relation
        others = [
            entity
            for entity in self.examples.elsewhere.world.of_kind(topic.subject.kind)
            if entity != topic.subject
        ]
        other = self.rng.choice(others)
        return self._about(other, topic.relation, topic.wording, self._one(OTHERS).format(other.name))

    def _about(self, entity: Entity, relation: str, wording: str, text: str) -> Request:
        fact = self.examples.elsewhere.by_key.get((entity.id, relation))
        answer = fact.object if fact else self._any_answer()
        topic = Topic(entity, self._entity(answer), wording, relation)
        asked = wording.format(s=entity.name)
        return Request(text, "follow_up", topic, "self_dc", asked, answer, (entity.name,))

    def _searched(self, entity: Entity) -> Request:
        referred = {"person": self.rng.choice(("him", "her")), "team": "them"}.get(entity.kind, "it")
        text = self._one(SEARCHES).format(a=referred)
        return Request(text, "follow_up", Topic(subject=entity), "search", entity.name)

    def aside(self, topic: Topic | None) -> Request:
        """A message that asks nothing."""
        way = self.rng.random()
        if way < 0.16:
            return Request(self._one(asides.GREETINGS), "aside", None, reply=asides.GREETED)
        if way < 0.26:
            return Request(self._one(asides.THANKS), "aside", None, reply=asides.THANKED)
        if way < 0.45:
            (name,) = self._names(1)
            named = Topic(subject=self._entity(name))
            text = name + self.rng.choice(("", "", "", ".", "!"))
            return Request(text, "aside", named, reply=asides.ABOUT.format(name=name))
        return Request(self._nothing(topic), "aside", None, reply=asides.WHICH)

    def _nothing(self, topic: Topic | None) -> str:
        """A statement, a question without its end or its reference, or no words at all."""
        way = self.rng.random()
        a, b = self._names(2)
        if way < 0.35:
            return self._one(asides.STATEMENTS)
        if way < 0.5:
            return self._one(asides.ABOUT_SOMEBODY).format(name=a, other=b)
        if way < 0.62:
            return self.rng.choice(self.rng.choice(self.examples.corpus).text.split(". ")).rstrip(".") + "."
        if way < 0.74:
            return self._one(asides.UNFINISHED)
        if way < 0.86 and topic is None:
            relation = self.rng.choice(self.examples.elsewhere.facts)
            wording = self.rng.choice(phrasings(relation.relation, self.examples.held_out))
            return opened(referring(wording, relation.subject.kind, self.rng), self._one)
        return self._gibberish()

    def _gibberish(self) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz"
        words = (
            "".join(self.rng.choice(letters) for _ in range(self.rng.randint(2, 9)))
            for _ in range(self.rng.randint(1, 3))
        )
        return " ".join(words) + self.rng.choice(("", "", ".", "!", " 1 2"))

    # What the tool answers, and what is made of it.

    def _answered(self, request: Request, tool: str, call: str) -> Exchange:
        way = self.rng.random()
        if way < FAILED:
            failure = self._failure()
            said = ToolMessage(ERROR + failure, tool_call_id=call, status="error", name=tool)
            return Exchange(said, AIMessage(f"This could not be looked up: {failure}"), "error")
        if tool == "search":
            return self._found(request, call, way > 1 - WITHOUT)
        if tool not in METHODS and self.rng.random() < 0.6:
            content = request.answer or self._any_answer()
            return self._told(content, f"The answer is {content}.", tool, call)
        titles = [*request.titles, *self._titles(self.rng.choice((0, 0, 1, 2, 2, 3, 5)))]
        if way > 1 - WITHOUT:
            content = answer_content("", titles)
            return self._told(content, f"I found no answer. {content.splitlines()[1]}", tool, call)
        if way > 1 - WITHOUT - REMEMBERED:
            titles = []
        answer = request.answer or self._any_answer()
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
        a, b = self._names(2)
        failure = self._one(FAILURES).format(a=a, b=b, n=self.rng.randint(1, 999))
        return error_content(KnowwhenError(failure)).removeprefix(ERROR)

    def _any_answer(self) -> str:
        return self.rng.choice(
            (
                self._names(1)[0],
                str(self.rng.randint(1, 2100)),
                invented(self.rng),
                self.rng.choice(("yes", "no", "red", "three", "about 300 people", "a film", "in the north")),
            )
        )

    # Pieces.

    def _one(self, texts: Sequence[str]) -> str:
        return self.rng.choice(trained(texts, self.examples.held_out))

    def _names(self, count: int) -> list[str]:
        world = self.examples.elsewhere.world
        drawn = [entity.name for entity in self.rng.sample(list(world.entities.values()), count)]
        if self.rng.random() < 0.15:
            words = name_words()
            drawn = [" ".join(self.rng.sample(words, self.rng.randint(1, 3))) for _ in drawn]
        return drawn

    def _entity(self, name: str) -> Entity | None:
        return self.examples.elsewhere.world.by_name.get(name)

    def _as_typed(self, question: str) -> str:
        """As people type: now and then without the mark or the capital."""
        if self.rng.random() < 0.06:
            question = question.rstrip("?.")
        if self.rng.random() < 0.05:
            question = question[0].lower() + question[1:]
        return question

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


def _with_texts(message: "M", change: Callable[[str], str]) -> "M":
    update: dict[str, object] = {"content": change(str(message.content))}
    if isinstance(message, AIMessage):
        update["tool_calls"] = [
            {**call, "args": {name: change(value) for name, value in call["args"].items()}}
            for call in message.tool_calls
        ]
    return message.model_copy(update=update)
