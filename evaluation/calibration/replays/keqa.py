"""KEQA's assessment replayed: α and N_c over recorded samples (KEQA, section 3.3, Algorithm 1).

Algorithm 1 takes the answers one by one, so the clusters of the first N_c answers are those of all, cut off
behind N_c. A quiz is known when the largest of them holds α of the N_c answers.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from knowwhen.evaluation.calibration.records import Record, Samples
from knowwhen.evaluation.calibration.replays.replay import (
    Gauge,
    Outcomes,
    Replay,
    Thresholds,
    extremes,
    open_tokens,
)
from knowwhen.evaluation.metric_names import Metric
from knowwhen.models.errors import SettingsError

FEWEST = 2  # answers that can be compared


def replay_keqa(records: Sequence[Record], gauge: Gauge, metric: Metric) -> Replay:
    """Replay every number of answers up to those recorded, and of each every share that can be met.

    Args:
        records: the questions, each with as many samples or more.
        gauge: of open-book answers, if there are several.
        metric: what an answer is worth.

    Raises:
        SettingsError: a record has no samples, or fewer than two.
    """
    drawn = [_samples(each) for each in records]
    most = min(len(each.answers) for each in drawn)
    tries = range(FEWEST, most + 1)
    candidates: list[Thresholds] = [
        {"alpha": size / number, "tries": number} for number in tries for size in range(1, number + 1)
    ]
    never, always = extremes(records, gauge, metric)
    shape = (len(records), len(candidates))
    gated = Outcomes(np.empty(shape), np.empty(shape), np.empty(shape))
    for row, (record, samples) in enumerate(zip(records, drawn, strict=True)):
        column = 0
        for number in tries:
            answer, size = largest(samples, number)
            known = np.arange(1, number + 1) <= size
            here = slice(column, column + number)
            worth = 0.0 if answer is None else metric(answer, record.golden_answers)
            taken = record.gate_tokens + samples.tokens * number / len(samples.answers)
            gated.quality[row, here] = np.where(known, worth, always.quality[row])
            gated.retrievals[row, here] = np.where(known, 0.0, record.retrievals)
            gated.tokens[row, here] = taken + np.where(known, 0.0, open_tokens(record))
            column += number
    return Replay(candidates, gated, never, always)


def largest(samples: Samples, number: int) -> tuple[str | None, int]:
    """The first answer of the largest cluster of the first `number` answers, and its size.

    Of clusters of one size the one that began first; None and 0 where every answer says nothing.
    """
    clusters = [each for each in samples.clusters[:number] if each is not None]
    if not clusters:
        return None, 0
    sizes = Counter(clusters)
    chosen = max(dict.fromkeys(clusters), key=lambda cluster: sizes[cluster])
    return samples.answers[samples.clusters.index(chosen)], sizes[chosen]


def _samples(record: Record) -> Samples:
    if record.samples is None or len(record.samples.answers) < FEWEST:
        raise SettingsError(f"record {record.id} has no samples, or one; KEQA compares {FEWEST} or more")
    return record.samples
