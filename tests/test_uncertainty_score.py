"""Scores of one estimator and one choice of settings compare; all others refuse to."""

import json
import math

import pytest
from evidences import greedy, states

from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.gram import Gram
from knowwhen.uncertainty.perplexity import Perplexity
from knowwhen.uncertainty.score import EvidenceError, Kind, Score

ROWS = [[1.0, 2.0, 4.0], [2.0, 1.0, 0.5], [0.0, 3.0, 1.0]]


def gram(**settings: object) -> Score:
    estimator = Gram(**{"k": 3, **settings})  # type: ignore[arg-type]
    return estimator.score(states(ROWS[: estimator.k], estimator.site, estimator.layer or 2))


def score(value: float, kind: Kind = "uncertainty", estimator: str = "perplexity", **settings: int) -> Score:
    return Score(value, kind, estimator, settings)


@pytest.mark.parametrize("other", [{"k": 2}, {"alpha": 1e-2}, {"site": "residual"}, {"layer": 5}])
def test_scores_over_different_settings_never_mix(other: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="cannot be compared") as error:
        gram().surer_than(gram(**other))
    assert "\n" not in str(error.value)
    threshold = Gram(**{"k": 3, "layer": 2, **other}).threshold(-6)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="cannot be compared"):
        gram().meets(threshold)


def test_scores_of_different_estimators_never_mix() -> None:
    perplexity = Perplexity().score(greedy([-0.1]))
    with pytest.raises(SettingsError, match="cannot be compared"):
        gram().surer_than(perplexity)
    with pytest.raises(SettingsError, match="cannot be compared"):
        perplexity.meets(Gram(k=3).threshold(0))
    with pytest.raises(SettingsError, match="cannot be compared"):
        score(0.5).surer_than(score(0.5, kind="confidence"))


def test_the_surer_of_two_scores_is_the_lower_uncertainty_and_the_higher_confidence() -> None:
    assert score(1.5).surer_than(score(2.5)) and not score(2.5).surer_than(score(1.5))
    one, other = score(0.9, "confidence"), score(0.2, "confidence")
    assert one.surer_than(other) and not other.surer_than(one)
    assert not score(1.5).surer_than(score(1.5))
    assert gram().surer_than(gram(alpha=1e-3)) is False


def test_a_threshold_that_is_reached_counts_as_sure() -> None:
    perplexity = Perplexity().score(greedy([math.log(0.5)]))
    verdicts = [perplexity.meets(Perplexity().threshold(value)) for value in (1.5, perplexity.value, 2.5)]
    assert verdicts == [False, True, True]
    confidence = score(0.8, "confidence", "consistency", k=5)
    one = Gram(k=5).threshold(0)
    thresholds = [type(one)(value, "confidence", "consistency", {"k": 5}) for value in (0.7, 0.8, 0.9)]
    assert [confidence.meets(threshold) for threshold in thresholds] == [True, True, False]


def test_a_threshold_for_the_middle_layer_holds_whichever_layer_that_is() -> None:
    assert gram().meets(Gram(k=3).threshold(1e9))
    assert gram().settings["layer"] == 2


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused_and_never_sure(value: float) -> None:
    for kind in ("confidence", "uncertainty"):
        with pytest.raises(EvidenceError, match="perplexity came to"):
            Score(value, kind, "perplexity")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-0.01, 1.01])
def test_a_confidence_lies_between_0_and_1(value: float) -> None:
    with pytest.raises(EvidenceError, match="no confidence"):
        score(value, "confidence")


def test_a_score_is_json() -> None:
    one = gram()
    assert json.loads(json.dumps(one.as_json())) == one.as_json()
    assert one.as_json()["settings"] == {"k": 3, "alpha": 1e-3, "site": "mlp", "layer": 2}
    assert one.as_json()["kind"] == "uncertainty"
