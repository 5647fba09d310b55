"""Estimators by name: what there is, what each needs, and which models it is refused."""

import re
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedChat

from knowwhen import uncertainty
from knowwhen.models.capability import Capability
from knowwhen.models.door import Door
from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.uncertainty.consistency import Consistency
from knowwhen.uncertainty.gram import Gram
from knowwhen.uncertainty.resolve import ESTIMATORS, NAMES, resolve_estimator

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "estimators.md"
EVERYTHING = frozenset(Capability)


class Encoder:
    name = "none"

    def queries(self, texts: Any) -> Any:
        raise NotImplementedError


def parts() -> dict[str, Any]:
    return {"door": Door(ScriptedChat(["yes"])), "encoder": Encoder()}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_its_estimator(name: str) -> None:
    estimator = resolve_estimator(name, **parts())
    assert estimator.name == name.partition(":")[0]
    assert estimator.kind in ("confidence", "uncertainty")
    assert estimator.threshold(0.5).estimator == estimator.name
    estimator.require(ScriptedChat([], reports=EVERYTHING))
    assert estimator.needs.k != 1


@pytest.mark.parametrize(
    ("name", "missing", "reports"),
    [
        ("gram", "hidden states", EVERYTHING - {Capability.HIDDEN_STATES}),
        ("gram:inside", "n samples", EVERYTHING - {Capability.SAMPLES}),
        ("energy", "logits", EVERYTHING - {Capability.LOGITS}),
        ("perplexity", "log-probabilities", EVERYTHING - {Capability.LOGPROBS}),
        ("ln_entropy", "n samples", EVERYTHING - {Capability.SAMPLES}),
        ("cocoa", "log-probabilities", EVERYTHING - {Capability.LOGPROBS}),
        ("consistency", "n samples", EVERYTHING - {Capability.SAMPLES}),
    ],
)
def test_a_model_without_what_is_needed_is_refused_in_one_line(
    name: str, missing: str, reports: frozenset[Capability]
) -> None:
    estimator = resolve_estimator(name)
    with pytest.raises(CapabilityError) as error:
        estimator.require(ScriptedChat([], reports=reports))
    line = str(error.value)
    assert f"estimator='{estimator.name}' needs" in line and missing in line and "ScriptedChat" in line
    assert "'verbalised'" in line and "\n" not in line


def test_a_model_that_shows_text_alone_serves_the_estimators_that_read_one_text() -> None:
    plain = ScriptedChat([], reports=frozenset({Capability.TEXT}))
    served = []
    for name in ESTIMATORS:
        try:
            resolve_estimator(name, **parts()).require(plain)
            served.append(name)
        except CapabilityError:
            pass
    assert served == ["verbalised", "yes_no"]


def test_the_package_offers_what_it_lists() -> None:
    for name in uncertainty.__all__:
        assert getattr(uncertainty, name) is not None
    assert uncertainty.resolve_estimator is resolve_estimator
    with pytest.raises(AttributeError, match="no attribute 'gram_estimator'"):
        uncertainty.gram_estimator  # noqa: B018


def test_presets_and_settings() -> None:
    assert resolve_estimator("gram") == resolve_estimator("gram:seakr") == Gram(20, 1e-3, "mlp")
    assert resolve_estimator("gram:inside") == Gram(10, 1e-3, "residual")
    assert resolve_estimator("gram:inside", k=5, layer=3) == Gram(5, 1e-3, "residual", 3)


def test_parts_go_only_to_those_that_take_them() -> None:
    judge: Any = object()
    assert resolve_estimator("consistency", judge=judge, **parts()) == Consistency(judge=judge)
    assert resolve_estimator("gram", judge=judge, **parts()) == Gram()


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("gramm", {}, "there is no estimator 'gramm'; choose from verbalised, probability"),
        ("gram:paper", {}, "no estimator 'gram:paper'; choose from .*gram:seakr, gram:inside"),
        ("perplexity:seakr", {}, "no estimator 'perplexity:seakr'"),
        ("gram", {"samples": 5}, "gram has no setting 'samples'; its settings: k, alpha, site, layer"),
        ("perplexity", {"k": 5}, "perplexity has no setting 'k'; its settings: none"),
        ("yes_no", {}, "yes_no needs its door; pass door="),
        ("embedding_gram", {"k": 5}, "embedding_gram needs its encoder; pass encoder="),
        ("gram", {"k": 1}, "k must be at least 2"),
    ],
)
def test_what_there_is_not_is_refused_in_one_line(name: str, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says) as error:
        resolve_estimator(name, **settings)
    assert "\n" not in str(error.value)


def test_needs_are_what_the_door_is_asked_for() -> None:
    assert resolve_estimator("gram").needs.sampling() == {
        "k": 20,
        "greedy": False,
        "logprobs": False,
        "top_logprobs": None,
        "states": (None, "mlp"),
    }
    assert resolve_estimator("token_entropy", top_logprobs=4).needs.sampling() == {
        "k": 0,
        "greedy": True,
        "logprobs": True,
        "top_logprobs": 4,
        "states": None,
    }


def test_every_estimator_has_its_row_in_the_document_and_every_file_its_source() -> None:
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    table = {name: row for name, row in rows if row.count("|") == 5}
    assert list(table) == list(ESTIMATORS)
    for name, kind in ESTIMATORS.items():
        assert f" {kind.kind} " in table[name], name
        module = __import__(kind.__module__, fromlist=["__doc__"]).__doc__
        for part in ("Formula:", "Range:", "igher is", "Needs:", "Cost:", "Source:"):
            assert part in module, (name, part)
