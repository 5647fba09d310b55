"""What a score is worth: against hands, sklearn, torchmetrics and all orders counted out."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from knowwhen.evaluation.figures import score_figures as module
from knowwhen.evaluation.figures.score_figures import (
    ScoreFigures,
    aurc,
    auroc,
    expected_calibration_error,
    gate_curve,
    reliability,
    score_figures,
)
from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.score import Kind

FIVE = ([0.9, 0.8, 0.8, 0.35, 0.1], [True, False, True, False, False])
scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.99, 1.0]), st.booleans()), min_size=1, max_size=6
)


def figures(values: list[float], right: list[bool], kind: Kind = "confidence", **more: int) -> ScoreFigures:
    found = score_figures(values, right, kind, **more)
    assert found is not None
    return found


def test_five_answers_by_hand() -> None:
    found = figures(*FIVE, without=2)
    assert (found.number, found.without, found.right) == (5, 2, 2 / 5)
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(5.5 / 6)  # six pairs, of which one is a tie
    assert found.brier == pytest.approx((0.1**2 + 0.8**2 + 0.2**2 + 0.35**2 + 0.1**2) / 5)
    # Bins (0, .1] .1 wrong; (.3, .4] .35 wrong; (.7, .8] .8 half right; (.8, .9] .9 right.
    assert found.ece == pytest.approx((0.1 + 0.35 + 2 * 0.3 + 0.1) / 5)
    # Risks of the 1, 2, … surest: 0, then half a wrong one of two, 1/3, 2/4, 3/5.
    assert found.aurc == pytest.approx((0 + 0.25 + 1 / 3 + 1 / 2 + 3 / 5) / 5)
    assert found.e_aurc == pytest.approx(found.aurc - (0 + 0 + 1 / 3 + 1 / 2 + 3 / 5) / 5)
    assert [point.model_dump() for point in found.curve] == [
        pytest.approx(dict(zip(module.GatePoint.model_fields, point, strict=True)))
        for point in [
            (0.9, 1 / 5, 0, 1 / 2, 1),
            (0.8, 3 / 5, 1 / 3, 1, 2 / 3),
            (0.35, 4 / 5, 1 / 2, 1, 1 / 3),
            (0.1, 1, 3 / 5, 1, 0),
        ]
    ]


def test_uncertainties_point_the_other_way_and_are_not_calibrated() -> None:
    values, right = FIVE
    turned = figures([-7 * value for value in values], right, "uncertainty")
    straight = figures(values, right)
    assert (turned.auroc, turned.aurc, turned.e_aurc) == (straight.auroc, straight.aurc, straight.e_aurc)
    assert (turned.brier, turned.ece, turned.reliability) == (None, None, [])
    assert [point.threshold for point in turned.curve] == pytest.approx([-6.3, -5.6, -2.45, -0.7])
    assert [p.risk for p in turned.curve] == [p.risk for p in straight.curve]


@pytest.mark.parametrize("right", [True, False])
def test_answers_of_one_sort_have_no_auroc(right: bool) -> None:
    found = figures([0.2, 0.7, 0.7], [right] * 3)
    assert found.auroc is None
    assert found.aurc == (0 if right else 1)
    assert found.e_aurc == 0
    assert found.brier == pytest.approx(np.mean([(value - right) ** 2 for value in (0.2, 0.7, 0.7)]))
    point = found.curve[0]
    assert (point.sensitivity, point.specificity) == ((2 / 3, None) if right else (None, 1 - 2 / 3))
    assert "NaN" not in found.model_dump_json() and "Infinity" not in found.model_dump_json()


def test_without_scores_there_are_no_figures() -> None:
    assert score_figures([], [], "confidence", without=3) is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (float("nan"), "uncertainty"),
        (float("inf"), "uncertainty"),
        (1.01, "confidence"),
        (-0.1, "confidence"),
    ],
)
def test_what_is_no_score_is_refused(value: float, kind: Kind) -> None:
    with pytest.raises(SettingsError, match=f"is no {kind}"):
        score_figures([0.5, value], [True, False], kind)


def test_as_many_scores_as_answers() -> None:
    with pytest.raises(SettingsError, match="2 scores are given and 1 answers"):
        score_figures([0.5, 0.1], [True], "confidence")


@given(scored)
def test_auroc_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[float, bool]]) -> None:
    values, right = np.array([v for v, _ in pairs]), np.array([r for _, r in pairs])
    found = auroc(values, right)
    if right.all() or not right.any():
        assert found is None
        return
    assert found is not None
    above = [(one > other) + (one == other) / 2 for one in values[right] for other in values[~right]]
    assert found.value == pytest.approx(np.mean(above))


def test_the_interval_of_auroc_is_that_of_a_plain_bootstrap() -> None:
    rng = np.random.default_rng(3)
    right = rng.random(150) < 0.4
    values = np.round(rng.normal(right * 0.8, 1), 1)  # with ties
    found = auroc(values, right)
    assert found is not None and found.low is not None and found.high is not None
    of_right, of_wrong = values[right], values[~right]
    labels = np.arange(150) < right.sum()
    plain = [
        roc_auc_score(
            labels, np.append(rng.choice(of_right, len(of_right)), rng.choice(of_wrong, len(of_wrong)))
        )
        for _ in range(600)
    ]
    assert found.value == pytest.approx(roc_auc_score(right, values))
    assert [found.low, found.high] == pytest.approx(np.quantile(plain, [0.025, 0.975]), abs=0.015)


def test_the_interval_of_auroc_needs_no_more_than_so_many_different_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    right = rng.random(1000) < 0.5
    values = rng.normal(right * 0.7, 1)
    whole = auroc(values, right)
    monkeypatch.setattr(module, "MANY", 100)
    found = auroc(values, right)
    assert found is not None and found.low is not None and found.high is not None
    assert whole is not None and whole.low is not None and whole.high is not None
    assert found != whole
    assert found.value == whole.value
    assert [found.low, found.high] == pytest.approx([whole.low, whole.high], abs=0.005)


@given(scored)
def test_aurc_is_the_mean_over_all_orders_of_ties(pairs: list[tuple[float, bool]]) -> None:
    values, right = np.array([v for v, _ in pairs]), np.array([r for _, r in pairs])
    areas = [
        np.mean(np.cumsum(~right[list(order)]) / np.arange(1, len(order) + 1))
        for order in permutations(range(len(values)))
        if np.all(np.diff(values[list(order)]) <= 0)
    ]
    assert aurc(values, right) == pytest.approx(np.mean(areas))
    best = aurc(right.astype(float), right)
    assert best - 1e-12 <= aurc(values, right) <= 1
    assert aurc(np.zeros(len(right)), right) == pytest.approx((~right).mean())  # no order: the mean risk


@given(scored)
def test_the_last_point_of_a_curve_covers_all(pairs: list[tuple[float, bool]]) -> None:
    values, right = np.array([v for v, _ in pairs]), np.array([r for _, r in pairs])
    curve = gate_curve(values, right, "confidence")
    assert (curve[-1].coverage, curve[-1].risk) == (1, pytest.approx((~right).mean()))
    for point in curve:
        sure = values >= point.threshold
        assert point.coverage == pytest.approx(sure.mean())
        assert point.risk == pytest.approx((~right[sure]).mean())
    assert [p.coverage for p in curve] == sorted({p.coverage for p in curve})


def test_a_long_curve_is_thinned_and_keeps_its_ends() -> None:
    rng = np.random.default_rng(0)
    values, right = rng.random(5000), rng.random(5000) < 0.5
    curve = gate_curve(values, right, "uncertainty")
    assert len(curve) == module.POINTS
    assert (curve[0].threshold, curve[-1].threshold) == (values.min(), values.max())
    gaps = np.diff([point.coverage for point in curve])
    assert gaps.max() <= 1.05 / (module.POINTS - 1)


def test_a_reliability_table_has_right_closed_bins() -> None:
    values = np.array([0.0, 0.1, 0.1000001, 0.3, 0.5, 0.7, 1.0])
    right = np.array([False, True, True, True, False, True, True])
    table = reliability(values, right, 10)
    assert [each.number for each in table] == [2, 1, 1, 0, 1, 0, 1, 0, 0, 1]
    assert (table[0].low, table[0].high, table[0].confidence, table[0].right) == (0, 0.1, 0.05, 0.5)
    assert (table[3].confidence, table[3].right) == (None, None)
    assert table[9].high == 1
    assert len(reliability(values, right, 15)) == 15


@pytest.mark.parametrize("bins", [10, 15])
def test_ece_is_that_of_torchmetrics(bins: int) -> None:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    rng = np.random.default_rng(1)
    values = rng.random(500).astype(np.float32).astype(float)
    right = rng.random(500) < values**2
    theirs = binary_calibration_error(torch.tensor(values), torch.tensor(right).int(), n_bins=bins)
    assert expected_calibration_error(reliability(values, right, bins)) == pytest.approx(
        float(theirs), abs=1e-5
    )
    assert figures(list(values), list(right), bins=bins).ece == pytest.approx(float(theirs), abs=1e-5)
