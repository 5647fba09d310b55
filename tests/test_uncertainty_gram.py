"""The Gram determinant: the number other implementations give, its floor, and nothing out of nothing."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from evidences import states, texts
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.evidence import Site
from knowwhen.uncertainty.determinant import gram_determinant, spread
from knowwhen.uncertainty.gram import PRESETS, Gram
from knowwhen.uncertainty.score import EvidenceError

Rows = NDArray[np.float64]
ROW, COLUMN = np.arange(5)[:, None], np.arange(16)[None, :]
WAVES = np.sin(0.7 * ROW * COLUMN + 0.3 * ROW + COLUMN)  # (5, 16)


@st.composite
def vectors(draw: st.DrawFn, largest: float = 100.0) -> Rows:
    k, width = draw(st.integers(2, 8)), draw(st.integers(2, 24))
    numbers = st.floats(-largest, largest, width=32)
    return np.array(draw(st.lists(numbers, min_size=k * width, max_size=k * width))).reshape(k, width)


def log_det(rows: Rows, alpha: float) -> float:
    """The formula as it stands in the paper, with the width x width centring and torch's determinant."""
    z = torch.tensor(np.asarray(rows, dtype=np.float64))
    k, width = z.shape
    centring = torch.eye(width, dtype=torch.float64) - torch.ones(width, width, dtype=torch.float64) / width
    return float(torch.logdet(z @ centring @ z.T + alpha * torch.eye(k, dtype=torch.float64))) / k


POLYGRAPH = [  # what lm-polygraph 0.7.0's EigenScore gives
    (WAVES, 1e-3, 1.9370478131613698),
    (50 * WAVES, 1e-3, 9.760941447718684),
    (WAVES, 0.5, 2.0100877492422438),
    (np.tile(WAVES[1:2], (5, 1)), 1e-3, -4.79527133246202),
    (np.vstack([np.tile(WAVES[1:2], (4, 1)), WAVES[2:3]]), 1e-3, -3.0583499479717284),
]


@pytest.mark.parametrize(("rows", "alpha", "value"), POLYGRAPH)
def test_the_value_is_that_of_lm_polygraphs_eigenscore(rows: Rows, alpha: float, value: float) -> None:
    assert gram_determinant(rows, alpha) == pytest.approx(value, abs=1e-6)


@given(vectors(), st.sampled_from([1e-3, 1e-1, 1.0]))
def test_the_value_is_the_papers_log_determinant(rows: Rows, alpha: float) -> None:
    assert gram_determinant(rows, alpha) == pytest.approx(log_det(rows, alpha), abs=1e-6)


@given(vectors(), st.randoms(use_true_random=False))
def test_the_order_of_the_samples_does_not_matter(rows: Rows, random: Any) -> None:
    order = random.sample(range(len(rows)), len(rows))
    assert gram_determinant(rows[order]) == pytest.approx(gram_determinant(rows), abs=1e-7)


@given(vectors(), st.integers(2, 30), st.sampled_from([1e-3, 1e-2]))
def test_identical_samples_give_the_floor(rows: Rows, k: int, alpha: float) -> None:
    same = np.tile(rows[:1], (k, 1)).astype(np.float32)
    squared_norm = float(((same[0].astype(np.float64) - same[0].astype(np.float64).mean()) ** 2).sum())
    floor = ((k - 1) * math.log(alpha) + math.log(k * squared_norm + alpha)) / k
    score = Gram(k=k, alpha=alpha).score(states(same))
    assert score.value == pytest.approx(floor, abs=1e-6)
    assert score.diagnostics["floor"] == pytest.approx(floor, abs=1e-6)


@pytest.mark.parametrize(("squared_norm", "floor"), [(1.0, -6.41), (1e4, -5.95)])
def test_the_floor_at_the_papers_settings(squared_norm: float, floor: float) -> None:
    half = math.sqrt(squared_norm / 2)
    score = Gram().score(states([[half, -half]] * 20))
    assert score.value == pytest.approx(floor, abs=0.005)


@given(vectors(), st.floats(0.1, 10), st.sampled_from([1e-3, 1e-1]))
def test_states_twice_as_large_shift_the_value_by_a_constant(rows: Rows, scale: float, alpha: float) -> None:
    scaled = gram_determinant(scale * rows, scale**2 * alpha)
    assert scaled == pytest.approx(gram_determinant(rows, alpha) + 2 * math.log(scale), abs=1e-6)


@given(vectors(), st.floats(-50, 50))
def test_what_all_features_of_a_state_share_does_not_count(rows: Rows, offset: float) -> None:
    assert gram_determinant(rows + offset) == pytest.approx(gram_determinant(rows), abs=1e-6)


@given(vectors(), st.sampled_from([1e-3, 1e-1]))
def test_no_samples_of_one_size_are_surer_than_identical_ones(rows: Rows, alpha: float) -> None:
    seen = spread(rows, alpha)
    assert seen.value >= seen.floor - 1e-7
    assert seen.squared_norm == pytest.approx(rows.var(axis=1).mean() * rows.shape[1], abs=1e-6)


def test_the_more_the_samples_differ_the_less_sure_they_are() -> None:
    rows = [np.vstack([WAVES[:different], *[WAVES[:1]] * (5 - different)]) for different in range(1, 6)]
    values = list(map(gram_determinant, rows))
    assert values == sorted(values) and len(set(values)) == 5


def test_float32_states_of_identical_samples_are_sure_and_finite() -> None:
    row = np.random.default_rng(7).normal(size=4096).astype(np.float32) * 30
    score = Gram().score(states(np.tile(row, (20, 1))))
    assert math.isfinite(score.value)
    assert score.value == pytest.approx(score.diagnostics["floor"], abs=1e-5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_state_that_is_no_number_is_refused_not_taken_for_sure(bad: float) -> None:
    rows = WAVES.copy()
    rows[3, 4] = bad
    with pytest.raises(EvidenceError, match="NaN or infinite"):
        Gram(k=5).score(states(rows))


def test_states_too_large_to_multiply_are_refused() -> None:
    with pytest.raises(EvidenceError, match="too large"):
        gram_determinant(WAVES * 1e200)


def test_one_sample_is_refused() -> None:
    with pytest.raises(SettingsError, match="k must be at least 2, not 1"):
        Gram(k=1)
    with pytest.raises(EvidenceError, match="two vectors or more"):
        gram_determinant(WAVES[:1])


@pytest.mark.parametrize("alpha", [0.0, -1e-3, math.nan, math.inf])
def test_a_regulariser_that_regularises_nothing_is_refused(alpha: float) -> None:
    with pytest.raises(SettingsError, match="alpha"):
        Gram(alpha=alpha)
    with pytest.raises(SettingsError, match="alpha"):
        gram_determinant(WAVES, alpha)


def test_a_site_or_layer_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="choose from residual, mlp"):
        Gram(site="attention")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="counted from 1"):
        Gram(layer=0)


def test_fewer_or_more_samples_than_asked_for_are_an_error_that_names_both_numbers() -> None:
    with pytest.raises(EvidenceError, match="20 samples and got 5"):
        Gram().score(states(WAVES))
    with pytest.raises(EvidenceError, match="4 samples and got 5"):
        Gram(k=4).score(states(WAVES))
    evidence = states(WAVES)
    with pytest.raises(EvidenceError, match="states of 5 samples, not 4"):
        Gram(k=5).score(type(evidence)("q", None, evidence.samples, states(WAVES[:4]).states))


@pytest.mark.parametrize(("site", "layer"), [("residual", 2), ("mlp", 3)])
def test_states_of_another_site_or_layer_are_refused(site: Site, layer: int) -> None:
    with pytest.raises(EvidenceError, match=f"not {site} states of layer {layer}"):
        Gram(k=5, layer=2).score(states(WAVES, site, layer))


def test_a_model_that_shows_no_states_is_told_so() -> None:
    with pytest.raises(CapabilityError, match="hidden states"):
        Gram(k=2).score(texts("a", "b"))


def test_the_presets_are_the_papers() -> None:
    seakr, inside = Gram(**PRESETS["seakr"]), Gram(**PRESETS["inside"])
    assert (seakr.k, seakr.alpha, seakr.site, seakr.needs.states) == (20, 1e-3, "mlp", (None, "mlp"))
    assert (inside.k, inside.alpha, inside.site) == (10, 1e-3, "residual")
    assert seakr == Gram()
