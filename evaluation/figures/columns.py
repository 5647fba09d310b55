"""The numbers of a run's outcomes in columns: about 150 bytes a question, whatever its trace weighs.

Everything is ordered by the question, not by when it was finished, so that figures made of a run that was
stopped and resumed equal those of one that was not.
"""

import hashlib
import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from knowwhen.evaluation.outcome import Outcome
from knowwhen.models.cost import NO_COST
from knowwhen.models.errors import KnowwhenError
from knowwhen.nodes.state import Route
from knowwhen.uncertainty.score import Kind

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

COUNTS = tuple(NO_COST)  # model_calls, sequences, …
ROUTES: tuple[Route, ...] = get_args(Route)


@dataclass(frozen=True)
class Labels:
    """A text for each question, of few different ones."""

    names: tuple[str, ...]
    codes: NDArray[np.int16]
    """Of each question the place of its text in `names`; -1: it has none."""


@dataclass(frozen=True)
class Columns:
    """One number for each question in every array, in the order of `keys`."""

    keys: NDArray[np.uint64]
    """Hashes of the questions' ids, ascending."""
    failed: Mask
    metrics: Mapping[str, Floats]
    """Not a number where the question failed."""
    counts: Mapping[str, NDArray[np.int64]]
    """By the names of `Cost`; 0 where the question failed."""
    seconds: Floats
    scores: Floats
    """Not a number where there is none."""
    score_kind: Kind | None
    """None: no question has a score."""
    estimators: tuple[str, ...]
    """The names of those that gave the scores."""
    hops: Labels
    kinds: Labels
    root_routes: Labels
    """How the question as asked was answered."""
    steps: Mapping[Route, NDArray[np.int64]]
    """How many (sub-)questions were answered so."""

    def __len__(self) -> int:
        return len(self.keys)

    def where(self, chosen: Mask | NDArray[np.intp]) -> "Columns":
        """Some of the questions, by a mask or by their places."""

        def cut(column: Any) -> Any:
            if isinstance(column, np.ndarray):
                return column[chosen]
            if isinstance(column, Labels):
                return replace(column, codes=column.codes[chosen])
            if isinstance(column, Mapping):
                return {name: each[chosen] for name, each in column.items()}
            return column

        return Columns(**{each.name: cut(getattr(self, each.name)) for each in fields(self)})


def columns_of(outcomes: Iterable[Outcome]) -> Columns:
    """Read outcomes one after the other and keep their numbers.

    Args:
        outcomes: in any order; of several of one question the last counts, as it was asked again.

    Raises:
        KnowwhenError: an outcome's metrics are others than those before it have, or a number is none.
    """
    gathering = _Gathering()
    for outcome in outcomes:
        gathering.add(outcome)
    return gathering.columns()


class _Names:
    """Texts as small numbers, in the order in which they first came."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.codes = array("h")

    def add(self, name: object) -> None:
        self.codes.append(-1 if name is None else self.places.setdefault(str(name), len(self.places)))

    def labels(self) -> Labels:
        """Names in their order, so that labels do not depend on which question came first."""
        names = sorted(self.places)
        to = np.array([names.index(name) for name in self.places] + [-1], dtype=np.int16)
        return Labels(tuple(names), to[np.array(self.codes, dtype=np.int16)])


class _Gathering:
    def __init__(self) -> None:
        self.keys = array("Q")
        self.failed = array("b")
        self.metrics: dict[str, array[float]] | None = None
        self.counts = {name: array("q") for name in COUNTS}
        self.seconds = array("d")
        self.scores = array("d")
        self.score_kinds: set[Kind] = set()
        self.estimators: set[str] = set()
        self.hops, self.kinds, self.root_routes = _Names(), _Names(), _Names()
        self.steps: dict[Route, array[int]] = {route: array("l") for route in ROUTES}

    def add(self, outcome: Outcome) -> None:
        output = outcome.output or {}
        steps = output.get("steps") or []
        cost = output.get("cost") or {}
        root = next((step for step in steps if step["parent"] is None), None)
        self._add_metrics(outcome)
        self._add_score(outcome.question_id, output, root)
        digest = hashlib.blake2b(outcome.question_id.encode(), digest_size=8).digest()
        self.keys.append(int.from_bytes(digest))
        self.failed.append(outcome.output is None)
        for name, column in self.counts.items():
            column.append(cost.get(name, 0))
        self.seconds.append(outcome.seconds)
        self.hops.add(outcome.metadata.get("hops"))
        self.kinds.add(outcome.metadata.get("kind"))
        self.root_routes.add(root["route"] if root else None)
        for route, column in self.steps.items():
            column.append(sum(step["route"] == route for step in steps))

    def _add_metrics(self, outcome: Outcome) -> None:
        given = outcome.metrics
        if outcome.output is None:
            given = dict.fromkeys(self.metrics or (), math.nan)
        elif self.metrics is None:
            self.metrics = {name: array("d", [math.nan] * len(self.keys)) for name in given}
        elif given.keys() != self.metrics.keys():
            raise KnowwhenError(
                f"question {outcome.question_id} is scored by {_listed(given)} and those before it by "
                f"{_listed(self.metrics)}; score all of a run alike"
            )
        for name, value in given.items():
            if outcome.output is not None and not math.isfinite(value):
                raise KnowwhenError(f"question {outcome.question_id} has {name} {value}; score it anew")
            if self.metrics is not None:
                self.metrics[name].append(value)

    def _add_score(self, question: str, output: Mapping[str, Any], root: Mapping[str, Any] | None) -> None:
        kinds: tuple[Kind, ...] = ("confidence", "uncertainty")
        kind = next((kind for kind in kinds if output.get(kind) is not None), None)
        value = math.nan
        if kind is not None:
            value = float(output[kind])
            if not math.isfinite(value):  # NaN compares false with all, which a gate would take for sure
                raise KnowwhenError(f"question {question} has {kind} {value}, which is no score; ask it anew")
            self.score_kinds.add(kind)
            if root and root.get("estimator"):
                self.estimators.add(root["estimator"])
        self.scores.append(value)

    def columns(self) -> Columns:
        if len(self.score_kinds) > 1:
            raise KnowwhenError(
                "some answers have a confidence and some an uncertainty; run all with one gate"
            )
        found = Columns(
            keys=np.array(self.keys, dtype=np.uint64),
            failed=np.array(self.failed, dtype=bool),
            metrics={name: np.array(column, dtype=float) for name, column in (self.metrics or {}).items()},
            counts={name: np.array(column, dtype=np.int64) for name, column in self.counts.items()},
            seconds=np.array(self.seconds, dtype=float),
            scores=np.array(self.scores, dtype=float),
            score_kind=next(iter(self.score_kinds), None),
            estimators=tuple(sorted(self.estimators)),
            hops=self.hops.labels(),
            kinds=self.kinds.labels(),
            root_routes=self.root_routes.labels(),
            steps={route: np.array(column, dtype=np.int64) for route, column in self.steps.items()},
        )
        order = np.argsort(found.keys, kind="stable")
        ordered = found.keys[order]
        last = np.append(ordered[1:] != ordered[:-1], True)[: len(order)]
        return found.where(order[last])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"
