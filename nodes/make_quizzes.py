"""Quiz generation, GenQ: a question becomes quizzes, each about one fact (KEQA, section 3.3).

`#2` in a quiz stands for the answer of quiz 2. A question that needs no division is its own quiz, and so is
one whose quizzes cannot be read.
"""

from collections import Counter

from pydantic import Field

from knowwhen.models.cost import NO_COST, Cost
from knowwhen.models.door import Door
from knowwhen.models.faults import shortened
from knowwhen.nodes.listing import bare, listed
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.references import rounds
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import ROOT, noted, spent
from knowwhen.nodes.sub_questions import DividedState, SubQuestion, undivided

# Demonstrations stand first: what prompts have in common is computed once.
PROMPT = """\
Split the last question into simple questions, each about one fact.
Write one question a line, as #1: and #2: and so on; #1 in a question stands for the answer of the first.
If one fact answers it, repeat it as #1.
{demonstrations}Question: {question}"""

MOST_QUIZZES = 16
MOST_ROUNDS = 10  # two supersteps each, and a graph in a pipe or as a tool may take 25


class QuizSettings(Settings):
    """Whether a question is divided."""

    quizzes: bool = Field(
        default=True, description="Divide the question into quizzes; false: the question is its own quiz"
    )


def read_quizzes(text: str) -> dict[int, str]:
    """The quizzes in a reply by their numbers; by their places if the numbers are missing or not unique."""
    quizzes = listed(text)
    numbers = [number for number, _ in quizzes]
    if None in numbers or max(Counter(numbers).values(), default=1) > 1:
        return dict(enumerate((quiz for _, quiz in quizzes), 1))
    return {number: quiz for number, quiz in quizzes if number is not None}


def why_not(question: str, quizzes: dict[int, str], reply: str) -> str | None:
    """Why these are no quizzes of the question; None if they are."""
    if not quizzes:
        return f"no quiz in {shortened(reply)!r}"
    if len(quizzes) > MOST_QUIZZES:
        return f"{len(quizzes)} quizzes are more than {MOST_QUIZZES}"
    if len(quizzes) > 1 and any(bare(quiz) == bare(question) for quiz in quizzes.values()):
        return "the quizzes repeat the question"
    if len(rounds(quizzes)) > MOST_ROUNDS:
        return f"a chain of {len(rounds(quizzes))} quizzes is longer than {MOST_ROUNDS}"
    return None


def make_quizzes(door: Door, settings: QuizSettings, prompt: str = PROMPT, demonstrations: str = "") -> Node:
    """The node that writes the quizzes of a question.

    Args:
        door: to the model.
        settings: how the model is sampled, and whether there are quizzes at all.
        prompt: with the places `{question}` and `{demonstrations}`.
        demonstrations: questions with their quizzes, as text.
    """

    def make_quizzes(state: DividedState) -> Update:
        now = settings.of_this_run()
        if not now.quizzes:
            return _own(state, None, NO_COST)
        reply = door.ask(
            prompt.format(question=state["question"], demonstrations=demonstrations), **now.sampling()
        )
        quizzes = read_quizzes(reply.text)
        reason = why_not(state["question"], quizzes, reply.text)
        if reason or len(quizzes) == 1:
            return _own(state, f"not divided, {reason}: asked whole" if reason else None, reply.cost)
        root = state.get("id", ROOT)
        report_progress(state, "decompose", None)
        return {
            "route": "decompose",
            "sub_questions": [
                SubQuestion(number=number, question=quiz, id=f"{root}.{number}", parent=root)
                for number, quiz in quizzes.items()
            ],
            "confidence": None,  # not that of an earlier question in the same thread
            "notes": [],
            "cost": spent(state, reply.cost),
        }

    return as_node(door, make_quizzes)


def _own(state: DividedState, note: str | None, cost: Cost) -> Update:
    """The question as its own quiz."""
    return {
        "sub_questions": undivided(state),
        "notes": noted(state, note),
        "cost": spent(state, cost),
    }
