"""Direct prompting: the model answers from its own knowledge (Self-DC, Table 14)."""

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import State, spent, step_of

PROMPT = """\
Answer the question with just a few words.
Question: {question}
Answer:"""


def answer_directly(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node that answers in one call, without passages."""

    def answer_directly(state: State) -> Update:
        reply = door.ask(prompt.format(question=state["question"]), **settings.of_this_run().sampling())
        answer = reply.text.strip()
        return {
            "answer": answer,
            "explanation": "answered from the model's own knowledge",
            "steps": [step_of(state, "direct", answer)],
            "cost": spent(state, reply.cost),
        }

    return as_node(door, answer_directly)
