"""The model's answer to each of several prompts, and how sure it is of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.door import Door
from knowwhen.models.evidence import Answer, Evidence
from knowwhen.uncertainty.drawing import drawn
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.score import EvidenceError, Score


@dataclass(frozen=True)
class Weighed:
    """An answer and its score.

    Attributes:
        answer: the greedy one.
        score: None without an estimator, or if the evidence allows none, which `note` then explains.
        note: why there is no score.
        cost: of the answer, the samples and the score.
    """

    answer: Answer
    score: Score | None
    note: str | None
    cost: Cost


def weigh(
    door: Door, estimator: Estimator | None, prompts: Sequence[str], logprobs: bool = False, **sampling: Any
) -> list[Weighed]:
    """Answer each prompt and estimate how sure the model is, with all prompts sampled at once.

    Evidence of which no score can be made is no error here: it is one more way not to be sure.

    Args:
        door: to the model.
        estimator: None to have the answers alone, without a sample.
        prompts: what is asked.
        logprobs: whether the answers must carry log-probabilities that the estimator does not need.
        sampling: as `Door.sample` takes it.
    """
    needs = estimator.needs if estimator else Needs()
    asked = needs.sampling() | {"greedy": True, "logprobs": needs.logprobs or logprobs}
    return [
        _weighed(door, estimator, evidence, prompt, needs, sampling)
        for prompt, evidence in zip(prompts, door.sample(prompts, **asked, **sampling), strict=True)
    ]


def _weighed(
    door: Door,
    estimator: Estimator | None,
    evidence: Evidence,
    prompt: str,
    needs: Needs,
    sampling: dict[str, Any],
) -> Weighed:
    greedy = cast(Answer, evidence.greedy)  # it was asked for
    first, costs = evidence, [evidence.cost or NO_COST]

    def draw(k: int) -> Evidence:
        if len(costs) == 1 and k == needs.k:
            costs.append(NO_COST)
            return first
        (more,) = door.sample([prompt], **(needs.sampling() | {"k": k, "greedy": False}), **sampling)
        costs.append(more.cost or NO_COST)
        return more

    score, note = None, None
    if estimator is not None:
        try:
            if needs.k:
                evidence = replace(drawn(draw, needs.k), greedy=greedy)
            score = estimator.score(evidence)
            costs.append(score.cost)
        except EvidenceError as error:
            note = f"taken for unsure: {error}"
            costs.append(error.cost)
    cost = NO_COST
    for each in costs:
        cost = add_costs(cost, each)
    return Weighed(greedy, score, note, cost)
