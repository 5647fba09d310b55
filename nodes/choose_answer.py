"""Self-aware reasoning: of the final answers the surer one is given (SeaKR, section 3.4)."""

from knowwhen.models.cost import NO_COST, add_costs
from knowwhen.models.door import Door
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.reasoning import Final, ReasoningSettings, ReasoningState, score_of
from knowwhen.nodes.state import ROOT, Route, Step, spent

SOURCES = {"from rationales": "the steps", "from knowledge": "the passages kept"}


def choose_answer(door: Door, settings: ReasoningSettings) -> Node:
    """The node that ends a question: with the surer of two answers, or with the one there is."""

    def choose_answer(state: ReasoningState) -> Update:
        now = settings.of_this_run()
        route: Route = "retrieve" if state["queries"] else "confident"
        root, steps = state.get("id", ROOT), list(state["steps"])
        if now.hops == "one":
            thought = state["with_passage"] or state["thought"]
            answer, cost, source = thought["text"], NO_COST, None
        else:
            # Only those just made: an earlier question in the same thread has left its own.
            finals: dict[str, Final] = {way: state["finals"][way] for way in state["ways"]}
            for name, final in finals.items():
                steps.append(_final_step(state, f"{root}.{len(steps) + 1}", name, final))
            source = surer(finals)
            answer, thought = finals[source]["answer"], finals[source]["thought"]
            cost = NO_COST
            for final in finals.values():
                cost = add_costs(cost, final["cost"])
        score = score_of(thought)
        steps.append(
            Step(
                id=root,
                parent=state.get("parent"),
                question=state["question"],
                resolved=state["question"],
                route=route,
                score=score.value if score else None,
                estimator=score.estimator if score else None,
                passages=state["knowledge"],
                answer=answer,
                notes=[note for note in (state["halted"], thought["note"]) if note],
                details={},
            )
        )
        return {
            "answer": answer,
            "explanation": _explanation(state, source),
            "confidence": score.value if score and score.kind == "confidence" else None,
            "uncertainty": score.value if score and score.kind == "uncertainty" else None,
            "steps": steps,
            "cost": spent(state, cost),
        }

    return as_node(door, choose_answer)


def surer(finals: dict[str, Final]) -> str:
    """The name of the surer answer that has text; the first of equals."""
    best, *others = finals
    for name in others:
        if not finals[name]["answer"]:
            continue
        now, least = score_of(finals[name]["thought"]), score_of(finals[best]["thought"])
        surer = now is not None and (least is None or now.surer_than(least))
        if not finals[best]["answer"] or surer:
            best = name
    return best


def _final_step(state: ReasoningState, id: str, name: str, final: Final) -> Step:
    score = score_of(final["thought"])
    note = final["thought"]["note"]
    return Step(
        id=id,
        parent=state.get("id", ROOT),
        question=f"From {SOURCES[name]}: {state['question']}",
        resolved=state["question"],
        route="direct" if name == "from rationales" else "retrieve",
        score=score.value if score else None,
        estimator=score.estimator if score else None,
        passages=state["knowledge"] if name == "from knowledge" else [],
        answer=final["answer"],
        notes=[note] if note else [],
        details={},
    )


def _explanation(state: ReasoningState, source: str | None) -> str:
    read = "; ".join(f"[{i}] {p['title'] or p['id']}" for i, p in enumerate(state["knowledge"], 1))
    if source is None:
        return f"from {read}" if read else "from the model's own knowledge"
    reasoned = "\n".join(state["rationales"])
    return f"from {SOURCES[source]}:\n{read if source == 'from knowledge' else reasoned}"
