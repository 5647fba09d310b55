"""The whole trade-off of a gate: quality against cost at every threshold, and which are not beaten."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from knowwhen.evaluation.calibration.replays.replay import Array, Flags, Replay
from knowwhen.evaluation.journal import unwritable

FIGURES = ("quality", "retrievals", "tokens")


def means(replay: Replay) -> Array:
    """Quality, retrievals and tokens of a question at each candidate, (candidates, 3)."""
    return np.stack([getattr(replay.gated, name).mean(axis=0) for name in FIGURES], axis=1)


def on_front(quality: Array, cost: Array) -> Flags:
    """Which are not beaten: no other is as cheap and better, or as good and cheaper."""
    order = np.lexsort((-quality, cost))
    before = np.concatenate([[-np.inf], np.maximum.accumulate(quality[order])[:-1]])
    front = np.zeros(len(quality), dtype=bool)
    front[order] = quality[order] > before
    return front


def write_trade_off(replay: Replay, file: Path) -> None:
    """Write the curve as CSV: never, always, then every candidate by its retrievals.

    Raises:
        KnowwhenError: the file cannot be written.
    """
    try:
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(_rows(replay))
    except OSError as error:
        raise unwritable(file, error) from None


def _rows(replay: Replay) -> Iterator[list[object]]:
    names = list(replay.candidates[0])
    yield ["gate", *names, *FIGURES, "on_front"]
    for gate, outcomes in (("never", replay.never), ("always", replay.always)):
        yield [gate, *("" for _ in names), *(float(getattr(outcomes, name).mean()) for name in FIGURES), ""]
    table = means(replay)
    front = on_front(table[:, 0], table[:, 1])
    for column in np.argsort(table[:, 1], kind="stable"):
        thresholds = replay.candidates[column]
        yield [
            "threshold",
            *(thresholds[name] for name in names),
            *map(float, table[column]),
            int(front[column]),
        ]
