"""Judge accuracy as a metric: a model says whether the prediction implies a gold answer (TAIKC's Acc†)."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowwhen.evaluation.implication import PROMPT, implied
from knowwhen.models.cost import NO_COST, Cost
from knowwhen.models.door import Door


@dataclass(frozen=True)
class Verdict:
    """What the judge says of one prediction."""

    value: float
    """1 if it implies a gold answer, else 0."""
    read: bool
    """Whether the reply was yes or no; any other counts as no."""
    cost: Cost
    """The judge's, which is none of the method's."""


@dataclass(frozen=True)
class JudgeAccuracy:
    """Asks a model behind a door; many threads may ask at once, as many as the door lets through.

    Args:
        door: to the judge.
        prompt: with the places `{question}`, `{right}` and `{given}`.
    """

    door: Door
    prompt: str = PROMPT

    def __call__(self, question: str, prediction: str, golds: Sequence[str]) -> Verdict:
        """Judge one prediction; an empty one implies nothing, and nobody is asked.

        Raises:
            ModelError: the model failed, also when asked again.
        """
        if not prediction.strip() or not golds:
            return Verdict(0.0, True, NO_COST)
        found = implied(self.door, question, [(golds, prediction)], self.prompt)
        return Verdict(found.verdicts[0], found.unread == 0, found.cost)
