"""The step at hand becomes a rationale and its passage knowledge; and whether the loop goes on.

SeaKR, sections 3.2 and 3.4: it ends when the model concludes or the limit of look-ups is reached.
"""

from knowwhen.models.door import Door
from knowwhen.nodes.conclusion import concludes
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.reasoning import ReasoningSettings, ReasoningState, Way, score_of, step_id
from knowwhen.nodes.state import ROOT, Step, noted


def keep_step(door: Door, settings: ReasoningSettings) -> Node:
    """The node that closes a step."""

    def keep_step(state: ReasoningState) -> Update:
        now = settings.of_this_run()
        thought, written = state["thought"], state["with_passage"]
        kept = written or thought
        passages = state["passages"] if written else []
        notes = noted(state)
        if state["query"]:
            notes = [f"looked up: {state['query']}", *notes]
        rationales, halted = [*state["rationales"], kept["text"]], state["halted"]
        if not kept["text"]:
            rationales, halted = state["rationales"], "the model wrote an empty step"
            notes.append(halted)
        score = score_of(thought)
        step = Step(
            id=step_id(state),
            parent=state.get("id", ROOT),
            question=thought["text"],
            resolved=state["query"] or thought["text"],
            route=state["route"],
            score=score.value if score else None,
            estimator=score.estimator if score else None,
            passages=passages,
            answer=kept["text"],
            notes=notes,
            details={},
        )
        concluded = concludes(kept["text"])
        if now.hops == "many" and not halted and not concluded:
            if len(state["queries"]) >= now.max_retrievals:
                halted = f"the limit of {now.max_retrievals} look-ups is reached"
            elif len(rationales) >= now.max_steps:
                halted = f"the limit of {now.max_steps} steps is reached"
        # By what they say: a retriever that names no ids leaves the ranks for them.
        known = {(passage["title"], passage["text"]) for passage in state["knowledge"]}
        knowledge = [*state["knowledge"], *(p for p in passages if (p["title"], p["text"]) not in known)]
        ended = concluded or halted is not None or now.hops == "one"
        return {
            "rationales": rationales,
            "knowledge": knowledge,
            "ways": ways_on(now, bool(knowledge)) if ended else ["think on"],
            "halted": halted,
            "steps": [*state["steps"], step],
        }

    return as_node(door, keep_step)


def ways_on(now: ReasoningSettings, knows: bool) -> list[Way]:
    """Where the loop leads when it ends: to what the final answers are reasoned from.

    Args:
        now: the run's settings.
        knows: whether any passage was kept; without, there are the rationales alone.
    """
    if now.hops == "one":
        return ["one answer"]
    if now.reasoning == "rationales" or not knows:
        return ["from rationales"]
    return ["from knowledge"] if now.reasoning == "knowledge" else ["from rationales", "from knowledge"]
