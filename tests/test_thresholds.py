"""Thresholds files: bound to a model, an estimator and prompts, and refused for any other."""

import json
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedChat
from self_dc_script import Shelf

from knowwhen.graphs import keqa, self_dc, taikc
from knowwhen.graphs.self_dc import PROMPTS
from knowwhen.models.errors import SettingsError
from knowwhen.models.pocket import pocket
from knowwhen.uncertainty.thresholds import (
    OfEstimator,
    OfModel,
    Thresholds,
    prompts_hash,
    read_thresholds,
    with_thresholds,
)

POCKET = OfModel.of(pocket())


def found(**changed: Any) -> Thresholds:
    content: dict[str, Any] = {
        "method": "self_dc",
        "thresholds": {"alpha": 0.7, "beta": 0.05},
        "settings": {"confidence": "verbalised"},
        "estimator": OfEstimator(name="verbalised", kind="confidence"),
        "model": POCKET,
        "prompts": prompts_hash(PROMPTS),
    }
    return Thresholds(**content | changed)


def saved(folder: Path, **changed: Any) -> Path:
    file = folder / "thresholds.json"
    found(**changed).save(file)
    return file


def settings_of(graph: Any) -> Any:
    return graph.context_schema()


def test_a_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    assert read_thresholds(saved(tmp_path)) == found()


def test_a_method_takes_its_thresholds_and_what_goes_with_them(tmp_path: Path) -> None:
    now = settings_of(self_dc("pocket", Shelf(), thresholds=saved(tmp_path)))
    assert (now.alpha, now.beta, now.confidence) == (0.7, 0.05, "verbalised")


def test_the_users_own_threshold_comes_first(tmp_path: Path) -> None:
    now = settings_of(self_dc("pocket", Shelf(), thresholds=saved(tmp_path), alpha=0.3))
    assert (now.alpha, now.beta) == (0.3, 0.05)


def test_every_other_method_with_a_gate_takes_them(tmp_path: Path) -> None:
    file = saved(
        tmp_path, method="keqa", thresholds={"alpha": 0.6, "tries": 4}, settings={}, prompts="",
    )  # fmt: skip
    now = settings_of(keqa("pocket", Shelf(), thresholds=file))
    assert (now.alpha, now.tries) == (0.6, 4)
    file = saved(
        tmp_path,
        method="taikc",
        thresholds={"threshold": 0.9},
        settings={"estimator": "perplexity", "boundary": "estimator"},
        prompts="",
    )
    now = settings_of(taikc("pocket", Shelf(), thresholds=file))
    assert (now.threshold, now.estimator, now.boundary) == (0.9, "perplexity", "estimator")


@pytest.mark.parametrize(
    ("changed", "given", "words"),
    [
        ({"method": "keqa"}, {}, "are for keqa, not for self_dc"),
        ({"model": OfModel(name="gpt-4o")}, {}, "were found on gpt-4o, not on pocket"),
        ({"model": OfModel(name="pocket", weights="0" * 16)}, {}, "not on pocket with other weights"),
        ({"prompts": "0" * 16}, {}, "with other prompts of self_dc"),
        ({}, {"confidence": "probability"}, "with confidence='verbalised', not 'probability'"),
        ({}, {"prompts": {"combine": "{question} {pairs}"}}, "with other prompts of self_dc"),
        ({"thresholds": {"gamma": 1}}, {}, "no setting 'gamma'"),
    ],
)
def test_thresholds_of_anything_else_are_refused_in_one_line(
    tmp_path: Path, changed: dict[str, Any], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        self_dc("pocket", Shelf(), thresholds=saved(tmp_path, **changed), **given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_model_without_weights_of_its_own_is_known_by_its_name(tmp_path: Path) -> None:
    file = saved(tmp_path, model=OfModel(name="ScriptedChat"))
    assert with_thresholds(file, "self_dc", ScriptedChat([]), PROMPTS, {})["alpha"] == 0.7


def test_a_model_of_the_same_weights_is_the_same_by_any_name(tmp_path: Path) -> None:
    file = saved(tmp_path, model=OfModel(name="my copy", weights=POCKET.weights))
    assert with_thresholds(file, "self_dc", pocket(), PROMPTS, {})["alpha"] == 0.7


def test_without_a_file_nothing_changes() -> None:
    assert with_thresholds(None, "self_dc", pocket(), PROMPTS, {"alpha": 0.2}) == {"alpha": 0.2}


def damaged(**changed: Any) -> str:
    content = json.loads(found().model_dump_json())
    for name, value in changed.items():
        content.pop(name)
        if value is not ...:
            content[name] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "null", "\xff", '{"threshold": 1}',
        damaged(format="thresholds"), damaged(version=2), damaged(method=...), damaged(thresholds={}),
        damaged(thresholds={"alpha": "x"}), damaged(thresholds={"alpha": float("nan")}),
        damaged(estimator={"name": "gram", "kind": "surety"}), damaged(model={"name": ""}),
        damaged(model=...),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "damaged.json"
    file.write_text(content, encoding="latin-1")
    with pytest.raises(SettingsError, match=f"^{file} is no thresholds file") as refused:
        read_thresholds(file)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for file in (tmp_path / "none.json", tmp_path):
        with pytest.raises(SettingsError, match=f"the thresholds {file} cannot be read"):
            read_thresholds(file)
