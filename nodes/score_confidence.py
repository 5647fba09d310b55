"""Confidence, and what follows from it: Self-DC's gate (Self-DC, section 4.2 and Figure 3).

The confidence is *verbalised* (the model states a number) or the *probability* of the answer's tokens.
The band (α−β, α+β) around α is where the model half knows: there the question is decomposed; from α+β on
the model generates what it knows, up to α−β it retrieves.
"""

from typing import Literal

from pydantic import Field

from knowwhen.models.capability import Capability
from knowwhen.models.door import Door
from knowwhen.models.faults import shortened
from knowwhen.nodes import answer_directly
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import Route, State, noted, spent
from knowwhen.uncertainty.probability import mean_probability
from knowwhen.uncertainty.verbalised import verbalised

Confidence = Literal["verbalised", "probability"]

PROMPT = """\
Answer the question and say how sure you are, from 0 for a guess to 100 for certain.
Use two lines:
Answer: your answer in a few words
Confidence: your number
Question: {question}"""

NEEDS: dict[Confidence, tuple[Capability, ...]] = {
    "verbalised": (),
    "probability": (Capability.LOGPROBS,),
}


class BandSettings(Settings):
    """How the confidence is had, and the band in which a question is decomposed."""

    confidence: Confidence = Field(
        default="probability",
        description="verbalised: stated by the model; probability: mean of its answer's token probabilities",
    )
    alpha: float = Field(default=0.6, ge=0, le=1, description="The middle of the band")
    beta: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Half its width. α+β > 1: nothing is generated; α−β < 0: nothing is retrieved at once",
    )


def route_by_band(confidence: float, alpha: float, beta: float) -> Route:
    """Figure 3's three cases.

    The edges are rounded, so that 0.8 ≥ 0.7 + 0.1 holds as it does on paper.
    """
    if confidence >= round(alpha + beta, 9):
        return "generate"
    if confidence > round(alpha - beta, 9):
        return "decompose"
    return "retrieve"


def score_confidence(
    door: Door, settings: BandSettings, prompt: str = PROMPT, direct_prompt: str = answer_directly.PROMPT
) -> Node:
    """The node that asks for a confidence and chooses the route by it.

    A reply that states no confidence counts as one of 0, as the paper's prompt has it for what the model
    does not know, so the question is retrieved; the step says so.
    """

    def score_confidence(state: State) -> Update:
        now = settings.of_this_run()
        if now.confidence == "verbalised":
            reply = door.ask(prompt.format(question=state["question"]), **now.sampling())
            stated = verbalised(reply.text)
            missing = f"no confidence stated in {shortened(reply.text)!r}: taken as 0"
        else:
            asked = direct_prompt.format(question=state["question"])
            reply = door.ask(asked, logprobs=True, **now.sampling())
            stated = mean_probability([token.logprob for token in (reply.token_logprobs or ((),))[0]])
            missing = "an empty answer has no probability: taken as 0"
        confidence = 0.0 if stated is None else stated
        route = route_by_band(confidence, now.alpha, now.beta)
        report_progress(state, route, confidence)
        return {
            "confidence": confidence,
            "estimator": now.confidence,
            "route": route,
            "notes": noted(state, missing if stated is None else None),
            "cost": spent(state, reply.cost),
        }

    return as_node(door, score_confidence)
