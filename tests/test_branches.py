"""Branches: questions that refer to each other, directly or through others, are one; others are apart."""

from hypothesis import example, given
from hypothesis import strategies as st

from knowwhen.nodes.references import branches, rounds, unresolvable

Numbers = dict[int, list[int]]  # questions, and the numbers that they refer to

questions = st.dictionaries(
    st.integers(1, 20), st.lists(st.integers(0, 21), max_size=3, unique=True), max_size=12
)


def written(wanted: Numbers) -> dict[int, str]:
    return {number: " ".join(f"#{each}" for each in others) + "?" for number, others in wanted.items()}


def links(wanted: Numbers) -> list[tuple[int, int]]:
    return [(number, each) for number, others in wanted.items() for each in others if each in wanted]


def united(wanted: Numbers) -> list[list[int]]:
    """The branches by brute force: unite any two groups that a reference joins until there are none."""
    groups = [[number] for number in wanted]
    joined = True
    while joined:
        joined = False
        for one, other in links(wanted):
            first = next(group for group in groups if one in group)
            second = next(group for group in groups if other in group)
            if first is not second:
                groups = [group for group in groups if group not in (first, second)] + [first + second]
                joined = True
    order = list(wanted)
    return sorted(
        (sorted(group, key=order.index) for group in groups), key=lambda group: order.index(group[0])
    )


@given(questions)
@example({1: [], 2: [1], 3: [], 4: [3]})
@example({3: [], 2: [], 1: [2, 3]})  # two that know nothing of each other, joined by a third
@example({1: [2], 2: [1], 3: []})  # a circle
@example({1: [1], 2: [7]})  # itself, and one that there is not
@example({n: [n - 1] for n in range(1, 13)})
@example({n: [1] * (n > 1) for n in range(12, 0, -1)})
@example({1: [4], 2: [5], 3: [6], 4: [], 5: [4], 6: [5]})
def test_branches_are_what_references_unite_in_the_order_asked(wanted: Numbers) -> None:
    assert branches(written(wanted)) == united(wanted)


@given(questions)
def test_every_question_is_in_one_branch_which_no_reference_leaves_and_nothing_divides(
    wanted: Numbers,
) -> None:
    found = branches(written(wanted))
    assert sorted(number for branch in found for number in branch) == sorted(wanted)
    branch_of = {number: branch for branch in found for number in branch}
    joining = links(wanted)
    assert all(branch_of[one] is branch_of[other] for one, other in joining)
    for branch in found:
        near = {branch[0]}
        for _ in branch:
            near |= {b for a, b in joining if a in near} | {a for a, b in joining if b in near}
        assert near == set(branch)
        assert branch == [number for number in wanted if number in branch]


@given(questions)
@example({1: [], 11: [9, 10], 9: [12], 10: [9], 12: [0, 10]})  # 11 waits for two of a circle of three
def test_a_branch_asked_alone_is_asked_in_the_rounds_of_the_whole(wanted: Numbers) -> None:
    asked = written(wanted)
    whole = {number: at for at, ready in enumerate(rounds(asked)) for number in ready}
    lost = unresolvable(asked)
    for branch in branches(asked):
        alone = {number: asked[number] for number in branch}
        assert {n: at for at, ready in enumerate(rounds(alone)) for n in ready} == {
            n: whole[n] for n in branch
        }
        assert unresolvable(alone) == {number: lost[number] for number in branch if number in lost}


def test_no_questions_are_no_branches() -> None:
    assert branches({}) == []
