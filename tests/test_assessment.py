"""KEQA's assessment: one batch of comparisons gives what Algorithm 1 gives, whoever judges."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
from evidences import texts
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.models.cost import NO_COST
from knowwhen.uncertainty.consistency import Consistency
from knowwhen.uncertainty.judge import Judged
from knowwhen.uncertainty.largest_cluster import largest_cluster
from knowwhen.uncertainty.normal_form import normal_form
from knowwhen.uncertainty.unknown import means_unknown

Pair = tuple[int, int]  # a form and the form of the cluster's first member
Result = tuple[str | None, float]  # A_c and T_c

ALPHAS = [0.2, 0.4, 0.5, 0.6, 0.8, 1.0]
NAMES = ["Kleko", "Thevin", "Zon", "Wedo", "Floror", "Tasus", "Cosox", "Ibar"]
WAYS = ["{}", "The {}", "{}.", "“{}”", " {}!", "{} ", "a {}", "({})"]
UNKNOWN = ["I don't know.", "unknown", "I'm not sure.", "N/A", "No idea", "Unclear.", "IDK", "It is unknown"]
FORM = {way.format(name): form for form, name in enumerate(NAMES) for way in WAYS}


class Relation:
    """A judge by a relation on forms; it keeps what it was asked, one list a call."""

    name = "relation"

    def __init__(self, same: Callable[[Pair], float]) -> None:
        self.same = same
        self.calls: list[list[Pair]] = []

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        asked = [(FORM[answer], FORM[first]) for answer, first in pairs]
        self.calls.append(asked)
        return Judged(tuple(float(self.same(pair)) for pair in asked), {**NO_COST, "model_calls": len(pairs)})


def algorithm_1(answers: Sequence[str], sim: Callable[[Pair], float]) -> tuple[Result, int]:
    """Algorithm 1 as it stands in the paper, without answers that say nothing, and its comparisons."""
    comparisons = 0
    clusters: list[list[str]] = []
    for answer in answers:
        if answer in UNKNOWN:
            continue
        matched = False
        for cluster in clusters:
            comparisons += 1
            one, other = FORM[answer], FORM[cluster[0]]
            if one == other or sim((one, other)) >= 0.5:
                cluster.append(answer)
                matched = True
                break
        if not matched:
            clusters.append([answer])
    largest: list[str] = []
    for cluster in clusters:
        if len(cluster) > len(largest):
            largest = cluster
    return (largest[0] if largest else None, len(largest) / len(answers)), comparisons


def written(forms: Sequence[int | None]) -> list[str]:
    """Answers of these forms, each written in another way; None says nothing."""
    return [UNKNOWN[at] if form is None else WAYS[at].format(NAMES[form]) for at, form in enumerate(forms)]


def numberings(size: int) -> Iterator[list[int]]:
    """Every partition of `size` answers, each answer with the number of its set."""
    if not size:
        yield []
        return
    for rest in numberings(size - 1):
        yield from ([*rest, number] for number in range(max(rest, default=-1) + 2))


def with_unknown(size: int) -> Iterator[list[int | None]]:
    """Every partition of every subset of `size` answers; the others say nothing."""
    for known in product([True, False], repeat=size):
        for numbers in numberings(sum(known)):
            left = iter(numbers)
            yield [next(left) if each else None for each in known]


def relations(size: int) -> Iterator[set[Pair]]:
    """Every relation of later forms to earlier ones, also those that are no equivalences."""
    pairs = [(later, first) for first in range(size) for later in range(first + 1, size)]
    for chosen in product([False, True], repeat=len(pairs)):
        yield {pair for pair, each in zip(pairs, chosen, strict=True) if each}


def check(answers: list[str], judge: Relation) -> None:
    """One assessment is Algorithm 1's, and asks what it says it asks."""
    (answer, consistency), comparisons = algorithm_1(answers, judge.same)
    found = largest_cluster("q", answers, judge)
    assert (found.answer, found.consistency) == (answer, consistency)
    assert [found.consistency >= alpha for alpha in ALPHAS] == [consistency >= alpha for alpha in ALPHAS]
    assert len(judge.calls) <= 1
    asked = [pair for call in judge.calls for pair in call]
    assert len(set(asked)) == len(asked) == found.judged == found.cost["model_calls"]
    assert found.judged + found.saved <= comparisons
    assert [answers[at] for at in found.unknown] == [each for each in answers if each in UNKNOWN]
    placed = sorted([*found.unknown, *(at for cluster in found.clusters for at in cluster)])
    assert placed == list(range(len(answers)))
    assert found.members == max(found.clusters, key=len, default=())


def test_the_answers_are_written_as_they_are_meant_to_be() -> None:
    for form, name in enumerate(NAMES):
        assert {normal_form(way.format(name)) for way in WAYS} == {normal_form(NAMES[form])}
    assert len({normal_form(name) for name in NAMES}) == 8 and len(FORM) == 64
    assert all(map(means_unknown, UNKNOWN)) and not any(map(means_unknown, FORM))


def test_over_all_partitions_of_five_answers_it_is_algorithm_1() -> None:
    """Meanings are every partition of five answers or fewer known ones, normal forms every finer one."""
    cases = 0
    for forms in with_unknown(5):
        count = max((form + 1 for form in forms if form is not None), default=0)
        for meanings in numberings(count):  # of forms: so a partition of the answers, in any order
            check(written(forms), Relation(lambda pair, of=tuple(meanings): of[pair[0]] == of[pair[1]]))
            cases += 1
    assert cases == 814  # 358 of five known answers, 5 · 60 of four, 10 · 12, 10 · 3, 5 and 1


def test_over_all_relations_of_five_answers_it_is_algorithm_1() -> None:
    """Of the later form to the earlier one, which are all that Algorithm 1 compares; many not transitive."""
    cases = 0
    for forms in with_unknown(5):
        count = max((form + 1 for form in forms if form is not None), default=0)
        for relation in relations(count):
            check(written(forms), Relation(relation.__contains__))
            cases += 1
    assert cases == 2716


@st.composite
def samples(draw: st.DrawFn) -> list[str]:
    forms = draw(st.lists(st.one_of(st.none(), st.integers(0, 7)), min_size=1, max_size=8))
    return written(forms)


@given(samples(), st.lists(st.sampled_from([0.0, 0.49, 0.5, 0.9, 1.0, math.nan]), min_size=64, max_size=64))
def test_with_any_judge_and_order_it_is_algorithm_1(answers: list[str], alike: list[float]) -> None:
    check(answers, Relation(lambda pair: alike[8 * pair[0] + pair[1]]))


@given(samples(), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_what_is_not_asked_cannot_change_the_result(answers: list[str], same: set[Pair]) -> None:
    judge = Relation(same.__contains__)
    found = largest_cluster("q", answers, judge)
    asked = {pair for call in judge.calls for pair in call}
    rest = {pair for pair in product(range(8), repeat=2) if pair not in asked}
    for otherwise in (same & asked, same | rest, same ^ rest):
        result, _ = algorithm_1(answers, otherwise.__contains__)
        assert result == (found.answer, found.consistency)


def compositions(total: int) -> Iterator[list[int]]:
    """Every list of positive sizes with this sum."""
    if not total:
        yield []
    for first in range(1, total + 1):
        yield from ([first, *rest] for rest in compositions(total - first))


@pytest.mark.parametrize("sizes", list(compositions(5)), ids=str)
def test_every_pair_that_is_asked_changes_the_result_for_some_judge(sizes: list[int]) -> None:
    answers = written([form for form, size in enumerate(sizes) for _ in range(size)])
    judge = Relation(lambda pair: False)
    largest_cluster("q", answers, judge)
    undecided = {pair for call in judge.calls for pair in call}
    for relation in relations(len(sizes)):
        for pair in list(undecided):
            one, _ = algorithm_1(answers, relation.__contains__)
            other, _ = algorithm_1(answers, (relation ^ {pair}).__contains__)
            if one != other:
                undecided.remove(pair)
    assert undecided == set()


@pytest.mark.parametrize(
    ("sizes", "founders"),
    [
        ([], 0),
        ([5], 1),
        ([4, 1], 1),
        ([1, 4], 1),  # the second has no later one to be compared with
        ([3, 1, 1], 1),
        ([2, 2, 1], 2),
        ([2, 1, 2], 2),
        ([1, 1, 1, 2], 3),
        ([1, 1, 1, 1, 1], 4),
        ([2, 1, 1], 1),  # a cluster of one size with an earlier one is not the largest
    ],
)
def test_a_group_founds_the_largest_cluster_only_if_it_can_outgrow_those_before(
    sizes: list[int], founders: int
) -> None:
    answers = written([form for form, size in enumerate(sizes) for _ in range(size)])
    judge = Relation(lambda pair: False)
    found = largest_cluster("q", answers, judge)
    expected = [(later, first) for first in range(founders) for later in range(first + 1, len(sizes))]
    assert [pair for call in judge.calls for pair in call] == expected
    assert found.judged == len(expected)


def test_a_saving_is_counted_against_the_fewest_comparisons_that_algorithm_1_may_make() -> None:
    never = Relation(lambda pair: False)
    alike = largest_cluster("q", written([0, 0, 0, 0, 0]), never)
    assert (alike.judged, alike.saved) == (0, 4) and never.calls == []
    most = largest_cluster("q", written([0, 0, 0, 0, 1]), never)
    assert (most.judged, most.saved) == (1, 3)
    three = largest_cluster("q", written([0, 0, 0, 1, 2]), never)  # 2 + 1 + 2 comparisons at the least
    assert (three.judged, three.saved) == (2, 3)
    always = Relation(lambda pair: True)
    apart = largest_cluster("q", written([0, 1, 2, 3, 4]), always)  # four would have been enough
    assert (apart.judged, apart.saved) == (10, -6)
    alone = largest_cluster("q", written([0, 1, 0, 1, 2]))
    assert (alone.judged, alone.saved) == (0, 1 + 1 + 2 + 2)


@given(samples(), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_a_saving_is_exact_once_those_left_out_mean_the_same(answers: list[str], same: set[Pair]) -> None:
    judge = Relation(same.__contains__)
    found = largest_cluster("q", answers, judge)
    asked = {pair for call in judge.calls for pair in call}
    _, comparisons = algorithm_1(answers, lambda pair: pair in same if pair in asked else True)
    assert found.judged + found.saved == comparisons


def test_answers_that_say_nothing_are_neither_judged_nor_the_result() -> None:
    judge = Relation(lambda pair: True)
    found = largest_cluster("q", written([None, None, 0, None, None]), judge)
    assert (found.answer, found.consistency, found.unknown) == ("Kleko.", 0.2, (0, 1, 3, 4))
    nothing = largest_cluster("q", written([None, None, None]), judge)
    assert (nothing.answer, nothing.consistency, nothing.members, nothing.clusters) == (None, 0.0, (), ())
    assert largest_cluster("q", [], judge).consistency == 0
    assert judge.calls == []


def test_the_papers_figure_2() -> None:
    """Four of five know the skater; of her birth dates only "June 10, 1982" and "June, 1982" agree."""
    known = ["Tara Lipinski", "Tara Lipinski.", "tara lipinski", "Michelle Kwan", "Tara Lipinski"]
    assert largest_cluster("q1", known).consistency >= 0.8
    dates = ["June 10, 1982", "June 1977", "June, 1982", "May 5, 1984", "July 1980"]

    class Human:
        name = "human"

        def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
            return Judged(tuple(float(set(pair) == {dates[0], dates[2]}) for pair in pairs))

    found = largest_cluster("q2", dates, Human())
    assert (found.answer, found.consistency, found.members) == ("June 10, 1982", 0.4, (0, 2))
    assert largest_cluster("q2", dates).consistency == 0.2


@given(samples(), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_the_estimators_consistency_is_the_same(answers: list[str], same: set[Pair]) -> None:
    answers = answers * 2 if len(answers) == 1 else answers
    judge = Relation(same.__contains__)
    score = Consistency(len(answers), judge).score(texts(*answers))
    found = largest_cluster("q", answers, judge)
    assert (score.value, score.diagnostics["answer"]) == (found.consistency, found.answer)
    assert score.diagnostics["saved"] == found.saved and score.cost == found.cost
