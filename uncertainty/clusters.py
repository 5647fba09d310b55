"""Answers that mean the same, put together (KEQA, Algorithm 1).

Each answer is compared with the first member of each cluster and joins the first that it matches, or begins
one. Answers of one normal form match without being judged; a judge is asked about the others, all that remain
against one cluster at a time, which are the comparisons of the algorithm in fewer requests. Answers that say
that the model does not know form no cluster. Where only the largest cluster counts, `largest_cluster` asks
less.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.uncertainty.judge import SAME, Judge
from knowwhen.uncertainty.normal_form import normal_form
from knowwhen.uncertainty.unknown import means_unknown


@dataclass(frozen=True)
class Clusters:
    """Which answers mean the same.

    Attributes:
        members: the places of each cluster's answers, clusters in the order of their first members.
        unknown: the places of the answers that say nothing.
        judged: how many pairs were judged.
        cost: of the judging.
    """

    members: tuple[tuple[int, ...], ...]
    unknown: tuple[int, ...]
    judged: int
    cost: Cost


def clustered(prompt: str, answers: Sequence[str], judge: Judge | None = None) -> Clusters:
    """Put the answers to one prompt together by meaning.

    Args:
        prompt: what was answered; the judge is told.
        answers: in the order drawn.
        judge: of answers whose normal forms differ; None: those differ.
    """
    groups, unknown = by_normal_form(answers)
    if judge is None:
        return Clusters(tuple(map(tuple, groups)), unknown, 0, NO_COST)
    members, judged = [], 0
    cost: Cost = NO_COST
    while groups:
        cluster, *rest = groups
        pairs = [(answers[other[0]], answers[cluster[0]]) for other in rest]
        verdict = judge(prompt, pairs) if pairs else None
        alike = verdict.alike if verdict else ()
        joined = [other for other, value in zip(rest, alike, strict=True) if value >= SAME]
        members.append(tuple(sorted(sum(joined, cluster))))
        groups = [other for other in rest if other not in joined]
        judged += len(pairs)
        cost = add_costs(cost, verdict.cost) if verdict else cost
    return Clusters(tuple(members), unknown, judged, cost)


def by_normal_form(answers: Sequence[str]) -> tuple[list[list[int]], tuple[int, ...]]:
    """The places of answers that are the same unjudged, in the order of their first, and of unknown ones."""
    unknown = tuple(at for at, answer in enumerate(answers) if means_unknown(answer))
    forms: dict[str, list[int]] = {}
    for at, answer in enumerate(answers):
        if at not in unknown:
            forms.setdefault(normal_form(answer), []).append(at)
    return list(forms.values()), unknown
