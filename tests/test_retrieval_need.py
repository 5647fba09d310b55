"""Over- and under-retrieval, by hand and by their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowwhen.evaluation.figures.columns import Labels
from knowwhen.evaluation.figures.retrieval_need import (
    NEEDS,
    boundary_figures,
    need_figures,
    need_groups,
    needs,
)

#            needed needed unneeded unneeded unneeded harmful neither neither
WITHOUT = np.array([0, 0, 1, 1, 1, 1, 0, 0], dtype=bool)
WITH = np.array([1, 1, 1, 1, 1, 0, 0, 0], dtype=bool)
LOOKED_UP = np.array([1, 0, 1, 0, 1, 1, 1, 0], dtype=bool)
RIGHT = np.array([1, 0, 1, 1, 0, 0, 0, 0], dtype=bool)


def test_eight_questions_by_hand() -> None:
    need = needs(WITHOUT, WITH)
    assert [NEEDS[place] for place in need] == [
        "needed", "needed", "unneeded", "unneeded", "unneeded", "harmful", "neither", "neither"
    ]  # fmt: skip
    whole = need_figures(need, "never", "always")
    assert whole.questions == {"needed": 2, "unneeded": 3, "harmful": 1, "neither": 2}
    assert {name: share.value for name, share in whole.shares.items()} == {
        "needed": 1 / 4, "unneeded": 3 / 8, "harmful": 1 / 8, "neither": 1 / 4
    }  # fmt: skip
    assert whole.ideal.value == 6 / 8
    assert (whole.never, whole.always) == ("never", "always")

    found = boundary_figures(need, LOOKED_UP, RIGHT)
    assert {name: tuple(each.model_dump().values()) for name, each in found.by_need.items()} == {
        "needed": (2, 1, 1),
        "unneeded": (3, 2, 2),
        "harmful": (1, 1, 0),
        "neither": (2, 1, 0),
    }
    assert (found.over.value, found.under.value) == (3 / 8, 1 / 8)
    assert found.over_of_right and found.under_of_needed and found.agreement
    assert (found.over_of_right.value, found.under_of_needed.value) == (3 / 4, 1 / 2)
    assert found.agreement.value == pytest.approx(2 / 6)
    assert found.over.low is not None and 0 <= found.over.low < 0.375


def test_a_group_has_the_figures_of_its_questions_alone() -> None:
    need = needs(WITHOUT, WITH)
    hops = Labels(("1", "2", "3"), np.array([0, 2, 0, 2, 2, -1, 0, -1], dtype=np.int16))
    groups = need_groups(hops, need, "never", "always", {"gate": LOOKED_UP}, {"gate": RIGHT}, seed=3)
    assert [each.name for each in groups] == ["1", "3"]  # nothing takes two, and two questions do not tell
    for name, places in (("1", [0, 2, 6]), ("3", [1, 3, 4])):
        group = next(each for each in groups if each.name == name)
        assert group.need == need_figures(need[places], "never", "always", 3)
        assert group.boundary == {"gate": boundary_figures(need[places], LOOKED_UP[places], RIGHT[places], 3)}
    assert groups[1].need.questions == {"needed": 1, "unneeded": 2, "harmful": 0, "neither": 0}


def test_shares_of_no_questions_are_left_out() -> None:
    nobody = np.zeros(3, dtype=bool)
    found = boundary_figures(needs(nobody, nobody), ~nobody, nobody)
    assert (found.over_of_right, found.under_of_needed, found.agreement) == (None, None, None)
    assert (found.over.value, found.under.value) == (0, 0)


masks = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=20)


@settings(max_examples=40)
@given(masks)
def test_never_and_always_retrieving_err_in_one_way_only(rows: list[tuple[bool, bool, bool]]) -> None:
    without, with_it, looked_up = np.array(rows).T
    need = needs(without, with_it)
    whole = need_figures(need, "never", "always")
    never = boundary_figures(need, np.zeros_like(looked_up), without)
    always = boundary_figures(need, np.ones_like(looked_up), with_it)
    assert (never.over.value, always.under.value) == (0, 0)
    assert never.under.value == pytest.approx((~without & with_it).mean())
    assert always.over.value == pytest.approx(without.mean())
    perfect = boundary_figures(need, ~without & with_it, without | with_it)
    assert (perfect.over.value, perfect.under.value) == (0, 0)
    assert sum(each.right for each in perfect.by_need.values()) == round(whole.ideal.value * len(rows))
    found = boundary_figures(need, looked_up, without)
    assert found.over.value == pytest.approx((without & looked_up).mean())
    assert found.under.value == pytest.approx((~without & with_it & ~looked_up).mean())
    assert sum(whole.questions.values()) == len(rows)
