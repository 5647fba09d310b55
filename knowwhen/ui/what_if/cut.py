"""One threshold moved: SeaKR's δ and TAIKC's boundary by an estimator.

A score at the threshold itself is sure, as `Score.meets` has it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowwhen.nodes.choose_answer import SOURCES
from knowwhen.ui.what_if.turn import Dial, Step, Turn, Values, Zone
from knowwhen.uncertainty.score import Kind

MARGIN = 1.0  # beyond the scores of an uncertainty, which knows no bounds
ELSE = "its answer is unknown"


@dataclass(frozen=True)
class Cut:
    """A threshold on the scores of one estimator.

    Attributes:
        label: how the paper calls it.
        value: what the run was asked with.
        kind: which way the scores point.
    """

    label: str
    value: float
    kind: Kind

    def sure(self, score: float, value: float) -> bool:
        """Whether a score meets a threshold."""
        return score >= value if self.kind == "confidence" else score <= value

    def dial(self, scores: Iterable[float]) -> Dial:
        """The threshold, to be moved past all scores."""
        if self.kind == "confidence":
            return Dial("threshold", self.label, self.value, 0, 1, 0.01)
        around = [self.value, *scores]
        low, high = round(min(around) - MARGIN, 2), round(max(around) + MARGIN, 2)
        return Dial("threshold", self.label, self.value, low, high, 0.01)

    def zones(self, value: float, scores: Iterable[float]) -> list[Zone]:
        """What is sure, and what is looked up."""
        dial = self.dial(scores)
        names = ("retrieve", "confident") if self.kind == "confidence" else ("confident", "retrieve")
        cut = min(dial.high, max(dial.low, value))
        zones = [Zone(names[0], dial.low, cut), Zone(names[1], cut, dial.high)]
        return [zone for zone in zones if zone.end > zone.start]


class Doubt:
    """SeaKR's gate over a finished run: after the first step that changes, the reasoning is another."""

    sampled = True  # and each thought is one of them

    def __init__(self, steps: Sequence[Step], cut: Cut) -> None:
        self.steps = steps
        self._cut = cut

    def dials(self) -> Sequence[Dial]:
        """δ."""
        return [self._cut.dial(self._scores())]

    def turns(self, values: Values) -> list[Turn]:
        """Each step in its order; the question itself comes last, as it was answered last."""
        root, *steps = self.steps
        turns, otherwise = [], ""
        for step in [*steps, root]:
            turn = self._turn(step, values["threshold"])
            if otherwise:
                why = f"the reasoning goes another way from step {otherwise} on"
                turn = Turn(step, "no gate" if turn.becomes == "no gate" else "unknown", why=why)
            elif turn.becomes == "changes":
                otherwise = step["id"]
            turns.append(turn)
        return [turns[-1], *turns[:-1]]

    def _turn(self, step: Step, value: float) -> Turn:
        if step["score"] is None or not self._gated(step):
            return Turn(step, "no gate", step["route"])
        route = "confident" if self._cut.sure(step["score"], value) else "retrieve"
        if route == step["route"]:
            return Turn(step, "stays", route)
        return Turn(
            step, "changes", route, ELSE if route == "retrieve" else "it would stay as it was thought"
        )

    def _gated(self, step: Step) -> bool:
        finals = {f"From {source}: {step['resolved']}" for source in SOURCES.values()}
        return step["parent"] is not None and step["question"] not in finals

    def _scores(self) -> list[float]:
        return [step["score"] for step in self.steps if step["score"] is not None]

    def zones(self, values: Values) -> list[Zone]:
        """Confident, retrieve."""
        return self._cut.zones(values["threshold"], self._scores())


class Boundary:
    """TAIKC's boundary by an estimator over a finished run."""

    def __init__(self, steps: Sequence[Step], cut: Cut, sampled: bool = False) -> None:
        self.steps = steps
        self.sampled = sampled
        self._cut = cut

    def dials(self) -> Sequence[Dial]:
        """The threshold."""
        return [self._cut.dial(self._scores())]

    def turns(self, values: Values) -> list[Turn]:
        """Each query by its score; one that refers to others may have become another question."""
        first = [self._turn(step, values["threshold"]) for step in self.steps]
        moved = {turn.step["id"] for turn in first if turn.becomes == "changes"}
        turns = []
        for turn in first:
            filled_in = turn.step["question"] != turn.step["resolved"]
            if filled_in and moved - {turn.step["id"]}:
                turn = Turn(turn.step, "unknown", why="it refers to an answer that may be another")
            turns.append(turn)
        return turns

    def _turn(self, step: Step, value: float) -> Turn:
        if "threshold" not in step["details"] or step["score"] is None:
            return Turn(step, "no gate", step["route"])
        certain = bool(step["details"]["direct_qa"]) and self._cut.sure(step["score"], value)
        if certain == self._cut.sure(step["score"], self._cut.value):
            return Turn(step, "stays", step["route"])
        if certain:
            return Turn(step, "changes", "confident", f"its answer would be {step['details']['direct_qa']}")
        return Turn(step, "changes", "retrieve", ELSE)

    def _scores(self) -> list[float]:
        return [step["score"] for step in self.steps if step["score"] is not None]

    def zones(self, values: Values) -> list[Zone]:
        """Confident, retrieve."""
        return self._cut.zones(values["threshold"], self._scores())
