"""Samples with text in them: what came out empty is drawn again, up to a bound."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.evidence import Answer, Evidence, HiddenStates
from knowwhen.uncertainty.score import EvidenceError


def drawn(draw: Callable[[int], Evidence], k: int, rounds: int = 3) -> Evidence:
    """Evidence with `k` samples, none of them empty, and the states behind them if there are any.

    Args:
        draw: draws so many samples, and others each time: a seed must change from call to call.
        k: how many samples are wanted.
        rounds: how often to draw at most, at least once.

    Returns:
        The first evidence drawn, with the samples of all rounds that have text and the cost of all.

    Raises:
        EvidenceError: too few have text after the last round; an estimate over fewer would be another.
    """
    parts: list[Evidence] = []
    samples: list[Answer] = []
    cost: Cost = NO_COST
    for _ in range(max(1, rounds)):
        part = draw(k - len(samples))
        cost = add_costs(cost, part.cost or NO_COST)
        parts.append(_with_text(part))
        samples += parts[-1].samples
        if len(samples) >= k:
            return replace(parts[0], samples=tuple(samples[:k]), states=_joined(parts, k), cost=cost)
    raise EvidenceError(
        f"{k} samples are needed, and of those drawn in {len(parts)} rounds only {len(samples)} have text; "
        "raise max_tokens, change the prompt or its stop strings, or lower k"
    )


def _with_text(evidence: Evidence) -> Evidence:
    kept = [at for at, sample in enumerate(evidence.samples) if sample.text.strip()]
    states = evidence.states and replace(evidence.states, values=evidence.states.values[kept])
    return replace(evidence, samples=tuple(evidence.samples[at] for at in kept), states=states)


def _joined(parts: list[Evidence], k: int) -> HiddenStates | None:
    states = [part.states for part in parts if part.states is not None]
    if not states:
        return None
    return replace(states[0], values=np.concatenate([each.values for each in states])[:k])
