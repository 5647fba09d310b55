"""Thresholds: bound to a model and an estimator, never carried over in silence."""

import warnings
from typing import Any

import pytest
from scripted import ScriptedChat

from knowwhen.models import pocket
from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.consistency import Consistency
from knowwhen.uncertainty.perplexity import Perplexity
from knowwhen.uncertainty.presets import (
    PRESETS,
    Preset,
    choose_preset,
    choose_threshold,
)
from knowwhen.uncertainty.resolve import resolve_estimator

MODEL = ScriptedChat([])


class Named(ScriptedChat):
    model: str = "meta-llama/Llama-2-7b-chat-hf"


FOUND = Preset("ScriptedChat", Consistency(5).threshold(0.6), "100 questions")


def test_none_is_no_choice_and_one_that_fits_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_preset(MODEL) is None
        assert choose_preset(Named([]), "llama-2-7b-chat") == PRESETS["llama-2-7b-chat"]
        assert choose_preset(pocket.pocket(), "pocket") == PRESETS["pocket"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_of_another_model_warns(name: str) -> None:
    with pytest.warns(UserWarning, match=f"was found on {PRESETS[name].model}, not on ScriptedChat"):
        assert choose_preset(MODEL, name) == PRESETS[name]


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(
        SettingsError, match=r"no preset 'llama'; choose from pocket, pocket-probability, llama-2-7b-chat"
    ):
        choose_preset(MODEL, "llama")


def test_a_model_with_weights_of_the_presets_name_needs_none_chosen() -> None:
    gram = resolve_estimator("gram:seakr")
    found = choose_threshold(gram, Named([]), "seakr")
    assert (found.value, found.estimator, found.settings["k"]) == (-6.0, "gram", 20)


def test_the_users_own_threshold_goes_before_all() -> None:
    assert choose_threshold(Consistency(5), MODEL, "seakr", 0.1, FOUND) == Consistency(5).threshold(0.1)
    assert choose_threshold(Consistency(5), MODEL, "seakr", None, FOUND).value == 0.6
    assert choose_threshold(Consistency(5), MODEL, "seakr", 0.0).value == 0.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_threshold_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(SettingsError, match="is no threshold"):
        choose_threshold(Consistency(5), MODEL, "seakr", value)


@pytest.mark.parametrize("estimator", [Consistency(10), Perplexity(), resolve_estimator("gram:inside")])
def test_a_threshold_of_another_estimator_or_k_is_refused(estimator: Any) -> None:
    with pytest.raises(
        SettingsError, match="found on ScriptedChat holds a threshold for consistency"
    ) as refused:
        choose_threshold(estimator, MODEL, "seakr", None, FOUND)
    assert f"not for {estimator.name}" in str(refused.value)


@pytest.mark.parametrize(
    "estimator",
    [
        resolve_estimator("gram:inside"),
        resolve_estimator("gram:seakr", k=10),
        resolve_estimator("gram:seakr", alpha=0.1),
    ],
)
def test_a_preset_does_not_fit_another_site_k_or_regulariser(estimator: Any) -> None:
    with pytest.raises(SettingsError, match="seakr has no threshold for estimator='gram' on Named"):
        choose_threshold(estimator, Named([]), "seakr")
