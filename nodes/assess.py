"""Quiz assessment: the model knows what it answers alike again and again (KEQA, section 3.3, Algorithm 1).

The answers come in one request, and of the pairs that normal forms leave open those that can change the
result are judged in one batch: answer, T_c and verdict are the algorithm's.
"""

from typing import Any

from pydantic import Field

from knowwhen.models.door import Door
from knowwhen.nodes import answer_directly
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.quiz import QuizState
from knowwhen.nodes.references import named
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import noted, spent, step_of
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.largest_cluster import largest_cluster

PROMPT = answer_directly.PROMPT


class AssessmentSettings(Settings):
    """How a quiz is assessed."""

    assess: bool = Field(
        default=True, description="Assess the quizzes; false: every quiz counts as unknown (without QKE)"
    )
    tries: int = Field(default=5, ge=2, le=100, description="N_c: how often a quiz is answered")
    alpha: float = Field(
        default=0.8, gt=0, le=1, description="A quiz is known if this share of its answers agree"
    )
    quiz_temperature: float = Field(default=1.0, gt=0, le=2, description="Of the answers that are compared")
    quiz_top_p: float = Field(default=1.0, gt=0, le=1, description="Probability mass they are sampled from")

    def quiz_sampling(self) -> dict[str, Any]:
        """How a quiz's answers are sampled, as the door takes it."""
        return self.sampling() | {"temperature": self.quiz_temperature, "top_p": self.quiz_top_p}


def assess(door: Door, settings: AssessmentSettings, judge: Judge | None, prompt: str = PROMPT) -> Node:
    """The node that finds out whether the model knows a quiz, and answers it if so.

    Args:
        door: to the model.
        settings: the threshold and the number of answers.
        judge: D_s; None: answers of different normal forms differ.
        prompt: with the place `{question}`.
    """

    def assess(state: QuizState) -> Update:
        now = settings.of_this_run()
        unresolved = state.get("unresolved") or []
        if unresolved or not now.assess:
            report_progress(state, "retrieve", None)
            note = f"{named(unresolved)} cannot be filled in: retrieved" if unresolved else None
            return {"route": "retrieve", "consistent": None, "notes": noted(state, note)}
        reply = door.ask(prompt.format(question=state["question"]), n=now.tries, **now.quiz_sampling())
        samples = [text.strip() for text in reply.texts]
        found = largest_cluster(state["question"], samples, judge)
        known = len(found.members) >= max(1, now.alpha * now.tries - 1e-9)  # 0.28 * 25 is more than 7
        unread = f"{found.unread} of {found.judged} comparisons answered neither yes nor no: taken for no"
        update: Update = {
            "route": "confident" if known else "retrieve",
            "confidence": found.consistency,
            "estimator": "consistency",
            "consistent": found.answer,
            "details": {
                "samples": samples,
                "clusters": [list(cluster) for cluster in found.clusters],
                "unknown": list(found.unknown),
                "judged": found.judged,
                "judgements_saved": found.saved,
            },
            "notes": noted(state, unread if found.unread else None),
            "cost": spent(state, reply.cost, found.cost),
        }
        report_progress(state, update["route"], update["confidence"])
        if known and found.answer is not None:
            answered: Any = {**state, **update}
            update |= {
                "answer": found.answer,
                "explanation": f"{len(found.members)} of {now.tries} answers agree",
                "steps": [step_of(answered, "confident", found.answer)],
            }
        return update

    return as_node(door, assess)
