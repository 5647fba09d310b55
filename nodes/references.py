"""References among sub-questions: `#2` in one stands for the answer of the second (KEQA, 3.3; TAIKC, 3.1).

A question may refer to several others, before or behind it. What cannot be filled in is a reference to the
question itself, to one that there is not, or around a circle of questions that wait for each other.
"""

import re
from collections.abc import Mapping, Sequence

_REFERENCE = re.compile(r"#(\d{1,3})(?!\w)")


def references_in(question: str) -> list[int]:
    """The numbers of the questions that one refers to, each once, from 1."""
    return list(dict.fromkeys(int(number) for number in _REFERENCE.findall(question)))


def named(numbers: Sequence[int]) -> str:
    """References as they are written: `#1, #3`."""
    return ", ".join(f"#{number}" for number in numbers)


def as_phrase(answer: str) -> str:
    """An answer as it stands in a question: on one line and without a full stop behind; may be nothing."""
    return " ".join(answer.split()).removesuffix(".")


def filled_in(question: str, answers: Mapping[int, str]) -> str:
    """The question with the answers at hand in their places."""

    def answer(reference: re.Match[str]) -> str:
        return as_phrase(answers.get(int(reference[1]), "")) or reference[0]

    return _REFERENCE.sub(answer, question)


def unresolvable(questions: Mapping[int, str]) -> dict[int, list[int]]:
    """The references that no order of answering can fill in, by the number of the question that makes them.

    Args:
        questions: by their numbers.
    """
    wanted = {number: references_in(question) for number, question in questions.items()}
    found = {}
    for number, references in wanted.items():
        lost = [each for each in references if each not in wanted or number in _reached_from(each, wanted)]
        if lost:
            found[number] = lost
    return found


def _reached_from(start: int, wanted: Mapping[int, Sequence[int]]) -> set[int]:
    """A question and all that it waits for, directly or through others."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += wanted.get(number, ())
    return reached


def rounds(questions: Mapping[int, str]) -> list[list[int]]:
    """The numbers of the questions in the order they can be asked: all that are ready at once in one round.

    A question waits for those that it refers to and that can be resolved; each round waits for the one
    before.
    """
    waits = _waits(questions)
    asked: set[int] = set()
    order = []
    while len(asked) < len(questions):
        ready = [number for number, wanted in waits.items() if number not in asked and wanted <= asked]
        order.append(ready)
        asked.update(ready)
    return order


def branches(questions: Mapping[int, str]) -> list[list[int]]:
    """The numbers of the questions that refer to each other, directly or through others, group by group.

    Those of a circle stay together, though none waits for another: apart, nobody would see the circle.
    """
    together = {number: {number} for number in questions}
    for number, question in questions.items():
        for other in together.keys() & references_in(question):
            both = together[number] | together[other]
            together.update(dict.fromkeys(both, both))
    groups = dict.fromkeys(map(frozenset, together.values()))
    return [[number for number in questions if number in group] for group in groups]


def _waits(questions: Mapping[int, str]) -> dict[int, set[int]]:
    """By each question's number those that it waits for: all that it refers to and that can be resolved."""
    lost = unresolvable(questions)
    return {
        number: {each for each in references_in(question) if each not in lost.get(number, ())}
        for number, question in questions.items()
    }
