"""Answers the almanac's questions from its history alone, never looking at the gold answers."""

import re
from collections.abc import Sequence

from almanac_reading import PHRASES, PLAIN, WORDINGS, Patterns, truth

from knowwhen.almanac import AlmanacQuestion, World

EARLIER = re.compile(r"\b(first|earlier|older)\b")
LATER = re.compile(r"\b(last|later|newer|younger)\b")


class Solver:
    """Answers questions about a world as it is today."""

    def __init__(self, world: World) -> None:
        self.true = truth(world, world.today)

    def reading(self, question: str, wordings: Patterns = WORDINGS) -> tuple[str, str, str]:
        """Wording, subject and relation of a question for one relation's object."""
        readings = {
            (template, subject, relation)
            for relation, template, wording in wordings
            if (match := wording.fullmatch(question)) and (subject := self.subject(match["s"], relation))
        }
        assert len(readings) == 1, f"{question!r} is read as {readings}"
        return readings.pop()

    def subject(self, text: str, asked: str) -> str | None:
        """The name that a text is or stands for, if the relation can be asked of it."""
        if (text, asked) in self.true:
            return text
        for relation, _, phrase in PHRASES:
            match = phrase.fullmatch(text)
            inner = self.subject(match["s"], relation) if match else None
            if inner and (self.true[inner, relation], asked) in self.true:
                return self.true[inner, relation]
        return None

    def ask(self, question: str) -> str:
        """The answer to a question for one relation's object, whose subject may be a phrase."""
        _, subject, relation = self.reading(question)
        return self.true[subject, relation]

    def steps(self, question: AlmanacQuestion) -> list[tuple[str, str]]:
        """Subject and answer of each step of the decomposition, every step one look-up."""
        done: list[tuple[str, str]] = []
        for step in question.decomposition:
            text = re.sub(r"#(\d+)", lambda match: done[int(match[1]) - 1][1], step)
            _, subject, relation = self.reading(text, PLAIN)
            assert subject in text, f"{step!r} takes more than one look-up"
            done.append((subject, self.true[subject, relation]))
        return done

    def answer(self, question: AlmanacQuestion) -> str:
        """The answer that follows from the steps, and from what the question asks of them."""
        subjects, answers = zip(*self.steps(question), strict=True)
        if is_chain(question):
            return str(answers[-1])
        match question.kind:
            case "comparison":
                return by_year(question.question, subjects, answers)
            case "bridge_comparison":
                return by_year(question.question, subjects[:2], answers[2:])
            case "three_hop":  # a person found, that one's birth, and the birth of a person named
                return by_year(question.question, (answers[0], subjects[2]), answers[1:])
        return together(question, answers)

    def answer_from_parts(self, question: AlmanacQuestion) -> str:
        """The answer that follows from the answers of the independent parts."""
        answers = [self.ask(part) for part in question.parts]
        if len(question.parts) == 1:
            return answers[0]
        if question.kind in ("yes_no", "intersection"):
            return together(question, answers)
        subjects = [self.reading(part)[1] for part in question.parts]  # whose years these are
        if question.kind == "bridge_comparison":  # asked for the film, not for its director
            options = re.search(r"(\w+ \w+)(?: and | or )(\w+ \w+)", question.question)
            assert options
            subjects = [options[1], options[2]]
        return by_year(question.question, subjects, answers)


def is_chain(question: AlmanacQuestion) -> bool:
    """Whether each step needs the one before; so for a single step, too."""
    return all(f"#{i}" in step for i, step in enumerate(question.decomposition[1:], 1))


def together(question: AlmanacQuestion, answers: Sequence[str]) -> str:
    """Whether they agree, or what they agree on."""
    if question.kind == "yes_no":
        return "yes" if len(set(answers)) == 1 else "no"
    assert question.kind == "intersection" and len(set(answers)) == 1, question
    return answers[0]


def by_year(question: str, names: Sequence[str], years: Sequence[str]) -> str:
    """Which name has the earlier year, or the later one if the question's words ask for that."""
    assert bool(EARLIER.search(question)) != bool(LATER.search(question)), question
    assert len(names) == len(set(years)) == 2, question
    choose = min if EARLIER.search(question) else max
    return choose(zip(names, years, strict=True), key=lambda pair: int(pair[1]))[0]
