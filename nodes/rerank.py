"""Self-aware re-ranking: of the passages found, the one is kept that leaves the model least unsure.

SeaKR, section 3.3. The step is written once with each passage, all at once; the greedy step behind the kept
passage is the rationale, so that nothing is generated twice.
"""

from knowwhen.models.door import Door
from knowwhen.nodes.gauge import Gauge
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.reasoning import ReasoningSettings, ReasoningState
from knowwhen.nodes.state import noted, spent
from knowwhen.nodes.think import AskStep, as_thought, step_ends
from knowwhen.uncertainty.weighing import Weighed, weigh


def rerank(door: Door, settings: ReasoningSettings, gauge: Gauge, ask: AskStep) -> Node:
    """The node that thinks the step again with each passage and keeps the surest one with its passage."""

    def rerank(state: ReasoningState) -> Update:
        now = settings.of_this_run()
        passages = state["passages"][:1] if now.rerank == "first" else state["passages"]
        if not passages:
            return {}
        compared = len(passages) > 1 or now.hops == "one"  # the score of a single hop is the answer's
        weighed = weigh(
            door,
            gauge.estimator(now) if compared else None,
            [ask(state, now, passage) for passage in passages],
            stop=step_ends(now),
            **now.sampling(),
        )
        best = surest(weighed)
        return {
            "with_passage": as_thought(weighed[best]),
            "passages": [passages[best]],
            "notes": noted(state, scores(weighed, best)),
            "cost": spent(state, *(each.cost for each in weighed)),
        }

    return as_node(door, rerank)


def surest(weighed: list[Weighed]) -> int:
    """The place of the surest answer that has text; the first of equals, and where nothing has a score."""
    best = 0
    for at, each in enumerate(weighed):
        now, least = each.score, weighed[best].score
        empty = not weighed[best].answer.text.strip()
        if each.answer.text.strip() and (
            empty or (now is not None and (least is None or now.surer_than(least)))
        ):
            best = at
    return best


def scores(weighed: list[Weighed], best: int) -> str | None:
    """What was compared, in words."""
    if len(weighed) < 2:
        return None
    told = ", ".join(
        f"[{at}] {each.score.value:.3g}" if each.score else f"[{at}] none"
        for at, each in enumerate(weighed, 1)
    )
    return f"with each passage: {told}; kept [{best + 1}]"
