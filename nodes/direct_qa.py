"""Direct QA within TAIKC: the model is asked outright, where passages do not help or are not to be used.

The reasoning continuation mechanism (TAIKC, Appendix H) comes here from the reader.
"""

from knowwhen.models.door import Door
from knowwhen.nodes import answer_directly
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.queries import QueryState
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import spent, step_of

PROMPT = answer_directly.PROMPT


def direct_qa(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node that answers a query from the model's own knowledge, certain or not."""

    def direct_qa(state: QueryState) -> Update:
        reply = door.ask(prompt.format(question=state["question"]), **settings.of_this_run().sampling())
        answer = reply.text.strip()
        continued = state["source"] != "internal"
        why = "unsupported: no passage holds the answer" if continued else "from the model's own knowledge"
        return {
            "route": "direct",
            "answer": answer,
            "explanation": why,
            "steps": [step_of(state, "direct", answer, state.get("passages", []))],
            "cost": spent(state, reply.cost),
        }

    return as_node(door, direct_qa)
