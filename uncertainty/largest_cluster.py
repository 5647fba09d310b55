"""KEQA's assessment: the largest cluster of answers that mean the same, with one batch of comparisons.

Algorithm 1 compares each answer with the first member of each cluster, in order, and each comparison waits
for the one before. Here answers of one normal form are put together first, and the pairs that may still
change the result are judged at once. Of groups of s_0, s_1, … answers, in the order of their first, the
cluster that begins with group i has s_i + s_(i+1) + … answers at most; the groups before it lie in clusters
that begin before it and have max(s_0, …, s_(i-1)) answers at least. Once the first number is not above the
second, neither group i nor any later one can begin the largest cluster (of several, the first counts), and no
pair of two such groups is judged. Every pair that remains changes the result for some judge.

This holds for any judge that depends on the normal forms alone. It need be neither symmetric nor transitive:
"June 1982" is consistent with "June 10, 1982" and with "June 11, 1982".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from knowwhen.models.cost import Cost
from knowwhen.uncertainty.clusters import by_normal_form
from knowwhen.uncertainty.judge import SAME, Judge, Judged


@dataclass(frozen=True)
class LargestCluster:
    """What N_c answers to one prompt have in common.

    Attributes:
        answer: A_c, the first answer of the largest cluster; None if every answer says nothing.
        consistency: T_c in [0, 1], the largest cluster's share of all N_c answers; 0 of none.
        members: the places of the largest cluster's answers, of clusters of one size the first.
        clusters: the places of all, clusters in the order of their first members. Those that could not be the
            largest were not judged among each other, so Algorithm 1 may have put some of them together.
        unknown: the places of the answers that say nothing; they count in N_c and form no cluster.
        judged: how many pairs were judged.
        saved: how many comparisons of answers that say something Algorithm 1 makes at the least, less those
            judged. May be below 0, as one batch asks what a comparison before might have answered.
        unread: how many of the judge's replies said neither yes nor no, and counted as no.
        cost: of the judging.
    """

    answer: str | None
    consistency: float
    members: tuple[int, ...]
    clusters: tuple[tuple[int, ...], ...]
    unknown: tuple[int, ...]
    judged: int
    saved: int
    unread: int
    cost: Cost


def largest_cluster(prompt: str, answers: Sequence[str], judge: Judge | None = None) -> LargestCluster:
    """What Algorithm 1 returns for these answers, with at most one call of the judge.

    Args:
        prompt: what was answered; the judge is told.
        answers: in the order drawn.
        judge: of pairs of answers whose normal forms differ, the later one first; None: those differ.
    """
    groups, unknown = by_normal_form(answers)
    # Without a judge all is known; with one, the pairs of a later group and a possible founder are asked for.
    founders = _possible_founders([len(group) for group in groups]) if judge else len(groups)
    pairs = [(later, first) for first in range(founders) for later in range(first + 1, len(groups))]
    verdict = Judged(())
    if judge is None:
        pairs = []
    elif pairs:
        firsts = [answers[group[0]] for group in groups]
        verdict = judge(prompt, [(firsts[later], firsts[first]) for later, first in pairs])
    same = {pair for pair, alike in zip(pairs, verdict.alike, strict=True) if alike >= SAME}

    clusters: list[list[int]] = []  # of groups
    for group in range(len(groups)):
        for cluster in clusters:
            if (group, cluster[0]) in same:
                cluster.append(group)
                break
        else:
            clusters.append([group])

    places = [tuple(sorted(at for group in cluster for at in groups[group])) for cluster in clusters]
    members = max(places, key=len, default=())
    known = sum(cluster[0] < founders for cluster in clusters)
    return LargestCluster(
        answer=answers[members[0]] if members else None,
        consistency=len(members) / len(answers) if members else 0.0,
        members=members,
        clusters=tuple(places),
        unknown=unknown,
        judged=len(pairs),
        saved=_least_comparisons([len(cluster) for cluster in places], known) - len(pairs),
        unread=verdict.unread,
        cost=verdict.cost,
    )


def _possible_founders(sizes: Sequence[int]) -> int:
    """How many groups, from the first on, may begin the largest cluster, by the groups' sizes alone."""
    for at in range(1, len(sizes)):
        if sum(sizes[at:]) <= max(sizes[:at]):
            return at
    return len(sizes)


def _least_comparisons(sizes: Sequence[int], known: int) -> int:
    """How many comparisons Algorithm 1 makes at the least, by its clusters' sizes, the `known` ones first.

    An answer in cluster i takes i + 1 comparisons, the one that began it i. The clusters behind the known
    ones may be one: every answer there but the first is compared with that one at the least.
    """
    return sum(size * (min(at, known) + 1) - (at <= known) for at, size in enumerate(sizes))
