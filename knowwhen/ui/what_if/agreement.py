"""KEQA's assessment moved: α, and N_c down to fewer answers than were drawn (KEQA, Algorithm 1).

Algorithm 1 takes answers one by one, so the clusters of the first few are those of all, cut off behind them,
as far as all pairs were judged.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from knowwhen.evaluation.calibration.records import Samples
from knowwhen.evaluation.calibration.replays.keqa import FEWEST, largest
from knowwhen.nodes.references import references_in
from knowwhen.ui.what_if.turn import Dial, Step, Turn, Values, Zone
from knowwhen.uncertainty.clusters import by_normal_form


class Agreement:
    """KEQA's gate over a finished run."""

    sampled = True

    def __init__(self, steps: Sequence[Step], settings: Mapping[str, Any]) -> None:
        self.steps = steps
        self._alpha: float = settings["alpha"]
        self._tries: int = settings["tries"]

    def dials(self) -> Sequence[Dial]:
        """α, and N_c if fewer answers can be compared than were; none if no quiz was assessed."""
        if not any(step["details"].get("samples") for step in self.steps):
            return []
        alpha = Dial("alpha", "α", self._alpha, 0.01, 1, 0.01)
        tries = Dial("tries", "N_c", self._tries, FEWEST, self._tries, 1)
        return [alpha, tries] if self._tries > FEWEST else [alpha]

    def turns(self, values: Values) -> list[Turn]:
        """Each quiz by its samples; what it refers to may have become another question."""
        turns: dict[str, Turn] = {}
        waiting = list(self.steps)
        while waiting:  # a quiz may refer to a later one
            ready = [step for step in waiting if not self._waits(step, waiting)] or waiting
            for step in ready:
                turns[step["id"]] = self._turn(step, turns, values)
            waiting = [step for step in waiting if step["id"] not in turns]
        return [turns[step["id"]] for step in self.steps]

    def _waits(self, step: Step, waiting: Sequence[Step]) -> bool:
        wanted = _referred_to(step)
        return any(str(other["id"]) in wanted for other in waiting if other is not step)

    def _turn(self, step: Step, turns: Mapping[str, Turn], values: Values) -> Turn:
        samples = step["details"].get("samples")
        others = [turns[each] for each in _referred_to(step) if each in turns]
        if any(each.becomes in ("changes", "unknown") or each.why for each in others):
            return Turn(step, "unknown", why="it refers to an answer that may be another")
        if not samples:
            return Turn(step, "no gate", step["route"])
        tries = int(values.get("tries", self._tries))
        if tries == len(samples):
            members: Sequence[int] = max(step["details"]["clusters"], key=len, default=[])
            answer, agreed = (samples[members[0]] if members else None), len(members)
        else:
            found = _clustered(step, samples)
            if found is None:
                return Turn(step, "unknown", why=f"not all pairs of its {len(samples)} answers were judged")
            answer, agreed = largest(found, tries)
        known = agreed >= max(1, values["alpha"] * tries - 1e-9)  # as the gate compares
        route = "confident" if known else "retrieve"
        why = f"its answer would be {answer}" if known and answer != step["answer"] else ""
        if route == step["route"]:
            return Turn(step, "stays", route, why)
        return Turn(step, "changes", route, why or ("" if known else "its answer is unknown"))

    def zones(self, values: Values) -> list[Zone]:
        """The share of answers that agree: retrieve below α, confident from there on."""
        return [Zone("retrieve", 0, values["alpha"]), Zone("confident", values["alpha"], 1)]


def _referred_to(step: Step) -> list[str]:
    """The ids of the quizzes that one refers to."""
    return [f"{step['parent']}.{number}" for number in references_in(step["question"])]


def _clustered(step: Step, samples: Sequence[str]) -> Samples | None:
    """The samples with the clusters they lie in; None if pairs were left out that could not change T_c."""
    details = step["details"]
    groups, _ = by_normal_form(samples)
    if details.get("judged") not in (0, len(list(combinations(groups, 2)))):
        return None
    of: list[int | None] = [None] * len(samples)
    for number, members in enumerate(details["clusters"]):
        for member in members:
            of[member] = number
    return Samples(answers=tuple(samples), clusters=tuple(of))
