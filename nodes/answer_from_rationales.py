"""The final answer from the rationales alone (SeaKR, section 3.4).

What a step has already concluded is left out: the answer is to be reasoned from the facts, not repeated.
"""

from knowwhen.models.door import Door
from knowwhen.nodes.conclusion import concludes, plain
from knowwhen.nodes.gauge import Gauge
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.reasoning import Final, ReasoningSettings, ReasoningState
from knowwhen.nodes.think import as_lines, as_thought
from knowwhen.nodes.think_step_by_step import read_thought
from knowwhen.uncertainty.weighing import weigh

PROMPT = """\
Question: {question}
These steps have been reasoned:
{rationales}
Answer the question from them with just a few words.
Question: {question}
Answer:"""


def answer_from_rationales(
    door: Door, settings: ReasoningSettings, gauge: Gauge, prompt: str = PROMPT
) -> Node:
    """The node that answers from the steps reasoned; it has a score if there is another answer to compare."""

    def answer_from_rationales(state: ReasoningState) -> Update:
        now = settings.of_this_run()
        facts = [rationale for rationale in state["rationales"] if not concludes(rationale)]
        shown = as_lines(facts or state["rationales"]) or "none"
        (weighed,) = weigh(
            door,
            gauge.estimator(now) if len(state["ways"]) > 1 or now.retrieval == "unsure" else None,
            [prompt.format(question=state["question"], rationales=shown)],
            **now.sampling(),
        )
        thought = as_thought(weighed)
        answer = read_thought(plain(weighed.answer.text)) or thought["text"]  # some models conclude once more
        final = Final(answer=answer, thought=thought, cost=weighed.cost)
        return {"finals": {"from rationales": final}}

    return as_node(door, answer_from_rationales)
