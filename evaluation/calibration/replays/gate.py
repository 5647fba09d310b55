"""One threshold replayed: what does not meet it is looked up (SeaKR's δ, TAIKC's boundary).

A score at the threshold itself is sure, as `Score.meets` has it.
"""

from collections.abc import Sequence

import numpy as np

from knowwhen.evaluation.calibration.records import Record
from knowwhen.evaluation.calibration.replays.replay import (
    UNSURE,
    Array,
    Gauge,
    Outcomes,
    Replay,
    extremes,
    open_tokens,
)
from knowwhen.evaluation.metric_names import Metric
from knowwhen.models.errors import SettingsError

MOST = 1000  # candidates, by quantiles of the scores where there are more


def replay_gate(records: Sequence[Record], gauge: Gauge, metric: Metric) -> Replay:
    """Replay every threshold that parts the records' scores, from sure of all to sure of none.

    Raises:
        SettingsError: an answer was not scored by this estimator, or no score could be made of any.
    """
    sure = np.array([gauge.sureness(each.closed_book, each) for each in records])
    cuts = cuts_between(sure, gauge)
    never, always = extremes(records, gauge, metric)
    gate = np.array([each.gate_tokens for each in records], dtype=float)
    looked_up = sure[:, None] < cuts[None, :]
    gated = Outcomes(
        np.where(looked_up, always.quality[:, None], never.quality[:, None]),
        np.where(looked_up, always.retrievals[:, None], 0.0),
        np.where(looked_up, (gate + [open_tokens(each) for each in records])[:, None], never.tokens[:, None]),
    )
    values = cuts if gauge.kind == "confidence" else -cuts
    return Replay([{"threshold": float(value)} for value in values], gated, never, always)


def cuts_between(sure: Array, gauge: Gauge) -> Array:
    """Thresholds on sureness in the middle of each gap between scores, and one beyond them at either end.

    In the middle, so that none sits on a score and goes the other way by a rounding.
    """
    values = np.unique(sure[sure > UNSURE])
    if not values.size:
        raise SettingsError(f"no answer has a score of {gauge.estimator!r} that is a number; nothing to part")
    if values.size > MOST:
        values = np.unique(np.quantile(values, np.linspace(0, 1, MOST), method="nearest"))
    middle = (values[:-1] + values[1:]) / 2
    middle = np.where(middle > values[:-1], middle, values[1:])  # between neighbours is no other number
    if gauge.kind == "confidence":
        # Below all and above all, but a number from 0 to 1 wherever there is room.
        return np.concatenate(
            [[values[0] / 2], middle, [max((values[-1] + 1) / 2, np.nextafter(values[-1], 2))]]
        )
    return np.concatenate([[values[0] - 1], middle, [max(values[-1] + 1, np.nextafter(values[-1], np.inf))]])
