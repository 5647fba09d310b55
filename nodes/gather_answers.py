"""After each round: the answers of its quizzes, for those that refer to them."""

from langgraph.types import Send

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.quizzes import AskedQuiz, Quiz, QuizzesState, answers_of, own_quiz, quiz_id
from knowwhen.nodes.references import filled_in, references_in
from knowwhen.nodes.state import ROOT, spent


def each_ready_quiz(state: QuizzesState) -> list[Send]:
    """The quizzes of the next round, all at once, with the answers they refer to filled in."""
    answers = answers_of(state)
    quizzes = {quiz["number"]: quiz["quiz"] for quiz in state["quizzes"]}
    return [
        Send("answer_quiz", _asked(state, number, quizzes[number], answers)) for number in state["rounds"][0]
    ]


def _asked(state: QuizzesState, number: int, quiz: str, answers: dict[int, str]) -> AskedQuiz:
    if own_quiz(state):  # whose "#1" is no reference
        return AskedQuiz(
            question=quiz,
            id=quiz_id(state, number),
            parent=state.get("parent"),
            depth=0,
            unresolved=[],
            notes=state["notes"],
        )
    return AskedQuiz(
        question=filled_in(quiz, answers),
        as_asked=quiz,
        id=quiz_id(state, number),
        parent=state.get("id", ROOT),
        depth=1,
        unresolved=[each for each in references_in(quiz) if each not in answers],
    )


def gather_answers(door: Door) -> Node:
    """The node that closes a round; a question that is its own quiz is answered with it."""

    def gather_answers(state: QuizzesState) -> Update:
        asked, *left = state["rounds"]
        outputs = {number: state["part_outputs"][quiz_id(state, number)] for number in asked}
        update: Update = {
            "rounds": left,
            "quizzes": [
                Quiz(**(quiz | {"answer": outputs[quiz["number"]]["answer"]}))  # type: ignore[typeddict-item]
                if quiz["number"] in outputs
                else quiz
                for quiz in state["quizzes"]
            ],
            "cost": spent(state, *(output["cost"] for output in outputs.values())),
        }
        if own_quiz(state):
            (output,) = outputs.values()
            update |= {
                "answer": output["answer"],
                "explanation": output["explanation"],
                "confidence": output.get("confidence"),
                "steps": output["steps"],
            }
        return update

    return as_node(door, gather_answers)
