"""Outcomes of runs, made by hand, for the tests of the figures."""

from typing import Any

from knowwhen.evaluation.outcome import Outcome
from knowwhen.models.cost import NO_COST
from knowwhen.nodes.state import Route


def outcome(
    name: str,
    right: float = 1.0,
    *,
    f1: float | None = None,
    routes: tuple[Route, ...] = ("generate",),
    retrievals: int = 0,
    confidence: float | None = None,
    uncertainty: float | None = None,
    hops: int | None = None,
    kind: str | None = None,
    seconds: float = 1.0,
    **cost: int,
) -> Outcome:
    """A finished question; the first route is that of the question as asked, which is recorded last."""
    metadata: dict[str, Any] = {}
    if hops is not None:
        metadata["hops"] = hops
    if kind is not None:
        metadata["kind"] = kind
    parts = [step(f"1.{place}", "1", route) for place, route in enumerate(routes[1:], start=1)]
    return Outcome(
        question_id=name,
        question=f"What is {name}?",
        golden_answers=("this",),
        metadata=metadata,
        output={
            "answer": "this" if right else "that",
            "confidence": confidence,
            "uncertainty": uncertainty,
            "steps": [*parts, step("1", None, routes[0])],
            "cost": {**NO_COST, "retrievals": retrievals, **cost},
        },
        metrics={"exact_match": right, "f1": right if f1 is None else f1},
        seconds=seconds,
        error="",
    )


def step(name: str, parent: str | None, route: Route) -> dict[str, Any]:
    """What the figures read of a step."""
    return {"id": name, "parent": parent, "route": route, "estimator": "probability", "answer": "this"}


def failure(name: str) -> Outcome:
    """A question that failed."""
    return Outcome(
        question_id=name,
        question=f"What is {name}?",
        golden_answers=("this",),
        metadata={"hops": 1},
        output=None,
        metrics={},
        seconds=9.0,
        error="the server did not answer",
    )
