"""Self-DC replayed over a recorded tree: the band (α−β, α+β) decides at each node (Self-DC, Figure 3).

At a node of confidence c: c ≥ α+β takes the closed-book answer; c ≤ α−β the open-book one; between them a
node with parts is answered from its parts, each decided anew, and a node without is looked up. Retrievals are
counted once for every node that is looked up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knowwhen.evaluation.calibration.records import Asked, Record
from knowwhen.evaluation.calibration.replays.replay import (
    UNSURE,
    Array,
    Gauge,
    Outcomes,
    Places,
    Replay,
    Thresholds,
    extremes,
    open_tokens,
    qualities,
)
from knowwhen.evaluation.metric_names import Metric
from knowwhen.models.errors import KnowwhenError, SettingsError

ALPHAS = tuple(round(0.01 * step, 2) for step in range(101))
BETAS = (*(round(0.01 * step, 2) for step in range(11)), 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
JOINTLY: list[Thresholds] = [{"alpha": alpha, "beta": beta} for beta in BETAS for alpha in ALPHAS]


@dataclass(frozen=True)
class _Solved:
    """A node under every candidate: which of its answers, and what it took; arrays (candidates,)."""

    answers: list[str]
    which: Places
    retrievals: Array
    tokens: Array


def replay_self_dc(
    records: Sequence[Record], gauge: Gauge, metric: Metric, candidates: Sequence[Thresholds] = JOINTLY
) -> Replay:
    """Replay bands over the records' trees.

    Args:
        records: the questions.
        gauge: of a confidence, which lies in [0, 1].
        metric: what an answer is worth.
        candidates: each with `alpha` and `beta`.

    Raises:
        SettingsError: the gauge is of an uncertainty, or an answer was not scored by it.
        KnowwhenError: a record lacks the answer combined from some answers of its parts.
    """
    if gauge.kind != "confidence":
        raise SettingsError(
            f"Self-DC's band lies between 0 and 1, and {gauge.estimator!r} is an uncertainty; take another"
        )
    # Rounded as the gate rounds them, so that 0.8 ≥ 0.7 + 0.1 holds as it does on paper.
    low = np.array([round(each["alpha"] - each["beta"], 9) for each in candidates])
    high = np.array([round(each["alpha"] + each["beta"], 9) for each in candidates])
    shape = (len(records), len(candidates))
    gated = Outcomes(np.empty(shape), np.empty(shape), np.empty(shape))
    for row, record in enumerate(records):
        solved = _solve(record, gauge, low, high, record.id)
        gated.quality[row] = qualities(solved.answers, record, metric)[solved.which]
        gated.retrievals[row], gated.tokens[row] = solved.retrievals, solved.tokens
    return Replay(candidates, gated, *extremes(records, gauge, metric))


def _solve(asked: Asked, gauge: Gauge, low: Array, high: Array, id: str) -> _Solved:
    sure = gauge.sureness(asked.closed_book, asked)
    sure = 0.0 if sure == UNSURE else sure  # as the gate takes a confidence that was not stated
    generates = sure >= high
    divides = ~generates & (sure > low) & bool(asked.parts)
    looks_up = ~generates & ~divides
    answers = [asked.closed_book.answer, gauge.surest(asked), *(each.answer for each in asked.combined)]
    which = looks_up.astype(np.intp)
    retrievals: Array = looks_up * np.float64(asked.retrievals)
    tokens: Array = np.full(len(low), asked.gate_tokens, dtype=np.float64)
    tokens += generates * asked.closed_book.tokens + looks_up * open_tokens(asked)
    # A band around the score can still come to nothing; the real gate has then paid for the attempt to split.
    tokens += (~generates & (sure > low)) * asked.split_tokens
    if divides.any():
        parts = [_solve(part, gauge, low[divides], high[divides], id) for part in asked.parts]
        chosen = _combination(asked, parts, id)
        which[divides] = 2 + chosen
        retrievals[divides] += sum(part.retrievals for part in parts)
        taken = np.array([each.tokens for each in asked.combined], dtype=float)[chosen]
        tokens[divides] += taken + sum(part.tokens for part in parts)
    return _Solved(answers, which, retrievals, tokens)


def _combination(asked: Asked, parts: Sequence[_Solved], id: str) -> Places:
    """Which combined answer the parts' answers lead to, under every candidate."""
    chosen = np.full(parts[0].which.shape, -1, dtype=np.intp)
    for number in reversed(range(len(asked.combined))):  # of several that fit, the first
        of = asked.combined[number].of
        if of is None:
            continue
        fits = np.ones(chosen.shape, dtype=bool)
        for part, answer in zip(parts, of, strict=True):
            fits &= np.array([each == answer for each in part.answers])[part.which]
        chosen[fits] = number
    for_any = next((number for number, each in enumerate(asked.combined) if each.of is None), None)
    if for_any is not None:
        chosen[chosen < 0] = for_any
    if (chosen < 0).any():
        at = int(np.argmax(chosen < 0))
        told = "; ".join(part.answers[part.which[at]] for part in parts)
        raise KnowwhenError(
            f"record {id}: {asked.question!r} has no answer combined from {told!r}; add it to `combined`, or "
            "one without `of`, which stands for any"
        )
    return chosen
