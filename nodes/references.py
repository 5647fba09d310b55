"""References among quizzes: `#2` in a quiz stands for the answer of the second one (KEQA, section 3.3).

A quiz may refer to several others, before or behind it. What cannot be filled in is a reference to the quiz
itself, to one that there is not, or around a circle of quizzes that wait for each other.
"""

import re
from collections.abc import Mapping, Sequence

_REFERENCE = re.compile(r"#(\d{1,3})(?!\w)")


def references_in(quiz: str) -> list[int]:
    """The numbers of the quizzes that a quiz refers to, each once, from 1."""
    return list(dict.fromkeys(int(number) for number in _REFERENCE.findall(quiz)))


def named(numbers: Sequence[int]) -> str:
    """References as they are written: `#1, #3`."""
    return ", ".join(f"#{number}" for number in numbers)


def as_phrase(answer: str) -> str:
    """An answer as it stands in a quiz: on one line and without a full stop behind; may be nothing."""
    return " ".join(answer.split()).removesuffix(".")


def filled_in(quiz: str, answers: Mapping[int, str]) -> str:
    """The quiz with the answers at hand in their places."""

    def answer(reference: re.Match[str]) -> str:
        return as_phrase(answers.get(int(reference[1]), "")) or reference[0]

    return _REFERENCE.sub(answer, quiz)


def unresolvable(quizzes: Mapping[int, str]) -> dict[int, list[int]]:
    """The references that no order of answering can fill in, by the number of the quiz that makes them.

    Args:
        quizzes: by their numbers.
    """
    wanted = {number: references_in(quiz) for number, quiz in quizzes.items()}
    found = {}
    for number, references in wanted.items():
        lost = [each for each in references if each not in wanted or number in _reached_from(each, wanted)]
        if lost:
            found[number] = lost
    return found


def _reached_from(start: int, wanted: Mapping[int, Sequence[int]]) -> set[int]:
    """A quiz and all that it waits for, directly or through others."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += wanted.get(number, ())
    return reached


def rounds(quizzes: Mapping[int, str]) -> list[list[int]]:
    """The numbers of the quizzes in the order they can be asked: all that are ready at once in one round.

    A quiz waits for those that it refers to and that can be resolved; each round waits for the one before.
    """
    lost = unresolvable(quizzes)
    waits = {
        number: {each for each in references_in(quiz) if each not in lost.get(number, ())}
        for number, quiz in quizzes.items()
    }
    asked: set[int] = set()
    order = []
    while len(asked) < len(quizzes):
        ready = [number for number, wanted in waits.items() if number not in asked and wanted <= asked]
        order.append(ready)
        asked.update(ready)
    return order
