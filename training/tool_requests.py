"""What users say in talks with tools, and what is to be asked of which tool."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from knowwhen.almanac.phrasing import phrasings
from knowwhen.almanac.questions import KINDS, AlmanacQuestion
from knowwhen.almanac.relations import relations_of
from knowwhen.almanac.world import Entity
from knowwhen.training import asides, open_questions
from knowwhen.training.examples import Examples
from knowwhen.training.follow_ups import OTHERS, opened, referring
from knowwhen.training.tool_pieces import Pieces

Skill = Literal["question", "search", "follow_up", "again", "aside", "answer", "found", "error"]

METHODS = ("self_dc", "keqa", "seakr", "taikc")

SEARCHES = (
    *("Search for {a}.", "Search for {a}", "What do you find about {a}?", "Find {a}.", "Look up {a}."),
    *("Look for {a}", "Search: {a}", "What can you find on {a}?", "Find passages on {a}.", "Search {a}"),
    *("Show me passages about {a}.", "What do you find on {a}?", "Please search for {a}.", "Look {a} up."),
    *("Find something about {a}", "Please find {a}.", "Show me what you find about {a}.", "search for {a}"),
)
STEPWISE = (
    *("Think step by step: {q}", "Step by step: {q}", "{q} Think step by step.", "Reason it out: {q}"),
    *("Please think step by step. {q}", "{q} Reason step by step.", "Think it through: {q}"),
    *("{q} Think it through.", "Reason step by step: {q}", "{q} Step by step, please."),
)
NAMED = ("With {t}: {q}", "Use {t}: {q}", "{t}: {q}", "Ask {t}: {q}", "Please use {t}. {q}", "{q} Use {t}.")
AGAIN = ("Try again.", "Again, please.", "Please try again", "Once more.", "Try it again, please.", "again")
PHRASES = ("the director of {a}", "the author of {a}", "{a} and {b}", "films of {a}", "the history of {a}")


def tool_for(question: AlmanacQuestion) -> str:
    """The method that does best on a question's kind by docs/results.md, at the least cost."""
    if question.hops == 1:
        return "self_dc"
    return "keqa" if len(question.parts) > 1 else "taikc"


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


class Requests:
    """Draws what users say about the worlds of `examples`."""

    def __init__(self, examples: Examples) -> None:
        self.examples, self.rng = examples, examples.rng
        self.pieces = Pieces(examples)

    def request(self, topic: Topic | None, failed: Request | None, tools: dict[str, str]) -> Request:
        """The next message.

        Args:
            topic: what the last one was about, if it asked anything.
            failed: the last one, if nothing came of it.
            tools: the argument of each tool by its name.
        """
        if failed is not None and self.rng.random() < 0.3:
            return replace(failed, text=self.pieces.one(AGAIN), skill="again")
        makers: dict[Callable[[], Request | None], float] = {
            self.question: 34,
            self.open_question: 10,
            self.stepwise: 6,
            lambda: self.named(tools): 5,
            self.search: 10,
            lambda: self.aside(topic): 17,
        }
        if topic is not None:
            makers[lambda: self.follow_up(topic, "search" in tools)] = 250
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
        topic = Topic(fact.subject, self.pieces.entity(fact.object), wording, fact.relation)
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
        (a, b), answer = self.pieces.names(2), self.pieces.any_answer()
        asked = self._as_typed(self.pieces.one(texts).format(a=a, b=b))
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
        text = self.pieces.one(texts).format(q=request.asked, t=tool)
        return replace(request, text=text, tool=tool)

    def search(self) -> Request:
        """Something to look for, which is no question."""
        a, b = self.pieces.names(2)
        query = self.pieces.one(PHRASES).format(a=a, b=b) if self.rng.random() < 0.25 else a
        text = self.pieces.one(SEARCHES).format(a=query)
        return Request(text, "search", Topic(subject=self.pieces.entity(a)), "search", query)

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
        text = opened(referring(wording, entity.kind, self.rng), self.pieces.one)
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
        return self._about(other, topic.relation, topic.wording, self.pieces.one(OTHERS).format(other.name))

    def _about(self, entity: Entity, relation: str, wording: str, text: str) -> Request:
        fact = self.examples.elsewhere.by_key.get((entity.id, relation))
        answer = fact.object if fact else self.pieces.any_answer()
        topic = Topic(entity, self.pieces.entity(answer), wording, relation)
        asked = wording.format(s=entity.name)
        return Request(text, "follow_up", topic, "self_dc", asked, answer, (entity.name,))

    def _searched(self, entity: Entity) -> Request:
        referred = {"person": self.rng.choice(("him", "her")), "team": "them"}.get(entity.kind, "it")
        text = self.pieces.one(SEARCHES).format(a=referred)
        return Request(text, "follow_up", Topic(subject=entity), "search", entity.name)

    def aside(self, topic: Topic | None) -> Request:
        """A message that asks nothing."""
        way = self.rng.random()
        if way < 0.16:
            return Request(self.pieces.one(asides.GREETINGS), "aside", None, reply=asides.GREETED)
        if way < 0.26:
            return Request(self.pieces.one(asides.THANKS), "aside", None, reply=asides.THANKED)
        if way < 0.45:
            (name,) = self.pieces.names(1)
            named = Topic(subject=self.pieces.entity(name))
            text = name + self.rng.choice(("", "", "", ".", "!"))
            return Request(text, "aside", named, reply=asides.ABOUT.format(name=name))
        return Request(self._nothing(topic), "aside", None, reply=asides.WHICH)

    def _nothing(self, topic: Topic | None) -> str:
        """A statement, a question without its end or its reference, or no words at all."""
        way = self.rng.random()
        a, b = self.pieces.names(2)
        if way < 0.35:
            return self.pieces.one(asides.STATEMENTS)
        if way < 0.5:
            return self.pieces.one(asides.ABOUT_SOMEBODY).format(name=a, other=b)
        if way < 0.62:
            return self.rng.choice(self.rng.choice(self.examples.corpus).text.split(". ")).rstrip(".") + "."
        if way < 0.74:
            return self.pieces.one(asides.UNFINISHED)
        if way < 0.86 and topic is None:
            relation = self.rng.choice(self.examples.elsewhere.facts)
            wording = self.rng.choice(phrasings(relation.relation, self.examples.held_out))
            return opened(referring(wording, relation.subject.kind, self.rng), self.pieces.one)
        return self._gibberish()

    def _gibberish(self) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz"
        words = (
            "".join(self.rng.choice(letters) for _ in range(self.rng.randint(2, 9)))
            for _ in range(self.rng.randint(1, 3))
        )
        return " ".join(words) + self.rng.choice(("", "", ".", "!", " 1 2"))

    def _as_typed(self, question: str) -> str:
        """As people type: now and then without the mark or the capital."""
        if self.rng.random() < 0.06:
            question = question.rstrip("?.")
        if self.rng.random() < 0.05:
            question = question[0].lower() + question[1:]
        return question
