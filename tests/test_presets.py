"""Thresholds: bound to a model and an estimator, kept in files, never carried over in silence."""

import json
import warnings
from pathlib import Path
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
    read_calibration,
)
from knowwhen.uncertainty.resolve import resolve_estimator

MODEL = ScriptedChat([])


class Named(ScriptedChat):
    model: str = "meta-llama/Llama-2-7b-chat-hf"


def saved(folder: Path, model: str = "ScriptedChat") -> Path:
    file = folder / "calibration.json"
    Preset(model, Consistency(5).threshold(0.6), "100 questions").save(file)
    return file


def test_a_calibration_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    assert read_calibration(saved(tmp_path)) == Preset(
        "ScriptedChat", Consistency(5).threshold(0.6), "100 questions"
    )
    for preset in PRESETS.values():
        preset.save(tmp_path / "preset.json")
        assert read_calibration(tmp_path / "preset.json") == preset


def damaged(**changed: Any) -> str:
    threshold = {"value": 0.5, "kind": "confidence", "estimator": "consistency", "settings": {"k": 5}}
    content: dict[str, Any] = {"model": "ScriptedChat", "threshold": threshold, "source": "x"}
    for name, value in changed.items():
        place = threshold if name in threshold else content
        if value is ...:
            del place[name]
        else:
            place[name] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is no calibration file"),
        ("{", "is no calibration file"),
        ("[]", "is no calibration file"),
        ("null", "is no calibration file"),
        (damaged(threshold=...), "no 'threshold'"),
        (damaged(threshold=3), "is no calibration file"),
        (damaged(model=...), "no 'model'"),
        (damaged(model=""), "its model has no name"),  # it would fit every model
        (damaged(kind="surety"), "'surety' is no kind of score"),
        (damaged(value=float("nan")), "the value nan"),  # every score would meet it
        (damaged(value=float("inf")), "the value inf"),
        (damaged(value=True), "the value True"),
        (damaged(value="0.5"), "the value '0.5'"),
        (damaged(value=None), "the value None"),
        (damaged(settings=...), "no 'settings'"),
        (damaged(settings=[1]), "is no calibration file"),
        (damaged(estimator=...), "no 'estimator'"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(content)
    with pytest.raises(SettingsError) as refused:
        read_calibration(file)
    assert words in str(refused.value) and str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for file in (tmp_path / "none.json", tmp_path):
        with pytest.raises(SettingsError, match="cannot be read"):
            read_calibration(file)
    (tmp_path / "odd.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(SettingsError, match="is no calibration file"):
        read_calibration(tmp_path / "odd.json")


def test_a_file_goes_before_a_name_and_none_of_both_is_no_choice(tmp_path: Path) -> None:
    file = saved(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_preset(MODEL) is None
        chosen = choose_preset(MODEL, "llama-2-7b-chat", file)
        assert choose_preset(Named([]), "llama-2-7b-chat") == PRESETS["llama-2-7b-chat"]
        assert choose_preset(pocket.pocket(), "pocket") == PRESETS["pocket"]
    assert chosen == read_calibration(file)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_of_another_model_warns(name: str) -> None:
    with pytest.warns(UserWarning, match=f"was found on {PRESETS[name].model}, not on ScriptedChat"):
        assert choose_preset(MODEL, name) == PRESETS[name]


def test_a_calibration_of_another_model_warns(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"0\.6 was found on gpt-4o, not on ScriptedChat"):
        choose_preset(MODEL, calibration=saved(tmp_path, "gpt-4o"))


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"no preset 'llama'; choose from pocket, pocket-probability, llama-2-7b-chat"):
        choose_preset(MODEL, "llama")


def test_a_model_with_weights_of_the_presets_name_needs_none_chosen() -> None:
    gram = resolve_estimator("gram:seakr")
    found = choose_threshold(gram, Named([]), "seakr")
    assert (found.value, found.estimator, found.settings["k"]) == (-6.0, "gram", 20)


def test_the_users_own_threshold_goes_before_all(tmp_path: Path) -> None:
    chosen = read_calibration(saved(tmp_path))
    assert choose_threshold(Consistency(5), MODEL, "seakr", 0.1, chosen) == Consistency(5).threshold(0.1)
    assert choose_threshold(Consistency(5), MODEL, "seakr", None, chosen).value == 0.6
    assert choose_threshold(Consistency(5), MODEL, "seakr", 0.0).value == 0.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_threshold_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(SettingsError, match="is no threshold"):
        choose_threshold(Consistency(5), MODEL, "seakr", value)


@pytest.mark.parametrize("estimator", [Consistency(10), Perplexity(), resolve_estimator("gram:inside")])
def test_a_threshold_of_another_estimator_or_k_is_refused(tmp_path: Path, estimator: Any) -> None:
    with pytest.raises(
        SettingsError, match="found on ScriptedChat holds a threshold for consistency"
    ) as refused:
        choose_threshold(estimator, MODEL, "seakr", None, read_calibration(saved(tmp_path)))
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
