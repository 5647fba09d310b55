"""Summary: explanation and answer from all quizzes and their answers (KEQA, section 3.4, Summ)."""

from itertools import chain

from knowwhen.models.door import Door
from knowwhen.nodes.combine import as_pairs
from knowwhen.nodes.conclusion import final_answer, plain
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.references import filled_in
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import spent, step_of
from knowwhen.nodes.sub_questions import DividedState, answers_of

PROMPT = """\
Question: {question}
These smaller questions have been answered:
{pairs}
Explain in a few sentences what follows, then write "So the final answer is" and the answer in a few words.
Question: {question}
Explanation:"""


def summarise(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node that answers a question from its quizzes; without a marked answer the last line is it."""

    def summarise(state: DividedState) -> Update:
        quizzes, answers = state["sub_questions"], answers_of(state)
        resolved = [filled_in(quiz["question"], answers) for quiz in quizzes]
        outputs = [state["part_outputs"][quiz["id"]] for quiz in quizzes]
        pairs = as_pairs(resolved, [output["answer"] or "unknown" for output in outputs])
        reply = door.ask(
            prompt.format(question=state["question"], pairs=pairs), **settings.of_this_run().sampling()
        )
        text = plain(reply.text.strip())
        answer, marked = final_answer(text)
        note = None if marked else "no marked answer in the summary: its last line is the answer"
        return {
            "answer": answer,
            "explanation": text,
            "steps": [
                *chain.from_iterable(output["steps"] for output in outputs),
                step_of(state, "decompose", answer, note=note),
            ],
            "cost": spent(state, reply.cost),
        }

    return as_node(door, summarise)
