"""The boundary by an estimator in place of Confident QA (TAIKC, section 6.2: "Based on Prob")."""

from knowwhen.models.door import Door
from knowwhen.nodes import answer_directly
from knowwhen.nodes.choose_source import KnowledgeSettings
from knowwhen.nodes.gauge import Gauge
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.queries import QueryState
from knowwhen.nodes.state import noted, spent, step_of
from knowwhen.uncertainty.weighing import weigh

PROMPT = answer_directly.PROMPT


def estimate_certainty(door: Door, settings: KnowledgeSettings, gauge: Gauge, prompt: str = PROMPT) -> Node:
    """The node that asks directly and keeps the answer if its score meets the threshold."""

    def estimate_certainty(state: QueryState) -> Update:
        now = settings.of_this_run()
        estimator, threshold = gauge.estimator(now), gauge.threshold(now)
        asked = prompt.format(question=state["question"])
        (weighed,) = weigh(door, estimator, [asked], **now.sampling())
        answer, score = weighed.answer.text.strip(), weighed.score
        certain = bool(answer) and score is not None and score.meets(threshold)
        update: Update = {
            "route": "confident" if certain else "retrieve",
            "confidence": score.value if score else None,
            "estimator": estimator.name,
            "details": {"direct_qa": answer, "threshold": threshold.value},
            "notes": noted(state, weighed.note),
            "cost": spent(state, weighed.cost),
        }
        report_progress(state, update["route"], update["confidence"])
        if certain:
            answered: QueryState = {**state, **update}  # type: ignore[typeddict-item]
            update |= {
                "answer": answer,
                "explanation": f"{estimator.name} meets {threshold.value:g}",
                "steps": [step_of(answered, "confident", answer)],
            }
        return update

    return as_node(door, estimate_certainty)
