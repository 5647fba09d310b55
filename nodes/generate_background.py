"""Generate-then-read's first half: the model writes the passage itself (Self-DC, Table 17)."""

from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import State, noted, spent
from knowwhen.tools.passage import Passage

PROMPT = """\
Write a short background passage that holds the facts needed to answer the question.
Question: {question}"""


def generate_background(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node whose passage, from the model's own knowledge, the reader then reads."""

    def generate_background(state: State) -> Update:
        reply = door.ask(prompt.format(question=state["question"]), **settings.of_this_run().sampling())
        text = reply.text.strip()
        written = Passage(id="background", title="", text=text, source="the model", rank=1, score=None)
        return {
            "route": "generate",
            "passages": [written] if text else [],
            "notes": noted(state, None if text else "the model wrote no background passage"),
            "cost": spent(state, reply.cost),
        }

    return as_node(door, generate_background)
