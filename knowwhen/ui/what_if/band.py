"""Self-DC's band moved: α and β (Self-DC, Figure 3).

A score is of the question alone, so a question that is asked at all takes the route of its score. What a
question would be divided into that was not divided is unknown, and so is every new answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from knowwhen.nodes.score_confidence import route_by_band
from knowwhen.ui.what_if.turn import Dial, Step, Turn, Values, Zone


class Band:
    """Self-DC's gate over a finished run."""

    sampled = False

    def __init__(self, steps: Sequence[Step], settings: Mapping[str, Any]) -> None:
        self.steps = steps
        self._before: Values = {name: settings[name] for name in ("alpha", "beta")}
        self._max_depth: int = settings["max_depth"]

    def dials(self) -> Sequence[Dial]:
        """α and β."""
        alpha, beta = self._before["alpha"], self._before["beta"]
        return [Dial("alpha", "α", alpha, 0, 1, 0.01), Dial("beta", "β", beta, 0, 1, 0.01)]

    def turns(self, values: Values) -> list[Turn]:
        """Each question by its score, from the question as asked down."""
        turns: dict[str, Turn] = {}
        for step in self.steps:
            mother = turns.get(str(step["parent"]))
            turns[step["id"]] = self._turn(step, mother, values)
        return [self._with_parts(turn, turns.values()) for turn in turns.values()]

    def _turn(self, step: Step, mother: Turn | None, values: Values) -> Turn:
        if mother is not None and mother.becomes not in ("stays", "no gate"):
            return Turn(step, "not asked", why=f"question {mother.step['id']} would not be divided")
        if step["score"] is None:
            return Turn(step, "unknown", why="no score was recorded")
        before = route_by_band(step["score"], self._before["alpha"], self._before["beta"])
        after = route_by_band(step["score"], values["alpha"], values["beta"])
        if after == before:  # also where a question to be divided could not be, and was retrieved
            return Turn(step, "stays", step["route"])
        if after == "decompose":
            if str(step["id"]).count(".") >= self._max_depth:
                after = "retrieve"
            else:
                return Turn(step, "changes", after, "or be retrieved, if it cannot be divided: unknown")
        if after == step["route"]:
            return Turn(step, "stays", step["route"])
        return Turn(step, "changes", after, "its answer is unknown")

    def _with_parts(self, turn: Turn, turns: Any) -> Turn:
        below = f"{turn.step['id']}."
        if turn.becomes == "stays" and any(
            each.becomes in ("changes", "unknown") and str(each.step["id"]).startswith(below)
            for each in turns
        ):
            return Turn(turn.step, "stays", turn.route, "its answer may change with those of its parts")
        return turn

    def zones(self, values: Values) -> list[Zone]:
        """Retrieve, decompose, generate; a band that leaves [0, 1] cuts the others off."""
        low = min(1.0, max(0.0, values["alpha"] - values["beta"]))
        high = min(1.0, max(low, values["alpha"] + values["beta"]))
        zones = [Zone("retrieve", 0, low), Zone("decompose", low, high), Zone("generate", high, 1)]
        return [zone for zone in zones if zone.end > zone.start]
