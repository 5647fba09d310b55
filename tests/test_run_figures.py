"""All figures of a run, by hand on few questions, and whatever the order and the length."""

import random
from collections.abc import Iterator

import pytest
from outcomes import failure, outcome

from knowwhen.evaluation.figures.run_figures import RunFigures, run_figures
from knowwhen.evaluation.outcome import Outcome
from knowwhen.models.errors import SettingsError

FIVE = [
    outcome("a", 1.0, hops=1, kind="who", confidence=0.9, model_calls=1, input_tokens=10, output_tokens=2),
    outcome(
        "b",
        0.0,
        f1=0.5,
        hops=2,
        kind="who",
        confidence=0.6,
        retrievals=2,
        routes=("decompose", "generate", "retrieve"),
        seconds=3.0,
        model_calls=4,
        input_tokens=50,
        output_tokens=8,
    ),
    outcome(
        "c", 1.0, hops=2, kind="when", retrievals=1, routes=("retrieve",), model_calls=1, input_tokens=30
    ),
    outcome("d", 0.0, f1=0.0, routes=("generate",), confidence=0.2, model_calls=2),
    failure("e"),
]  # fmt: skip


def test_five_questions_by_hand() -> None:
    found = run_figures(FIVE)
    assert (found.questions, found.failed) == (5, 1)
    assert {name: figure.value for name, figure in found.quality.items()} == {
        "exact_match": 2 / 4,
        "f1": 2.5 / 4,
    }
    assert found.cost and found.retrieved and found.routes and found.score
    amounts = {name: getattr(found.cost, name) for name in type(found.cost).model_fields}
    assert {name: (each.mean.value, each.median, each.total) for name, each in amounts.items()} == {
        "model_calls": (2, 1.5, 8),
        "sequences": (0, 0, 0),
        "input_tokens": (22.5, 20, 90),
        "output_tokens": (2.5, 1, 10),
        "retrievals": (0.75, 0.5, 3),
        "passages": (0, 0, 0),
        "seconds": (1.5, 1, 6),  # the failed one's 9 are in no figure
    }
    assert found.retrieved.value == 2 / 4
    assert found.efficiency["f1"].a_retrieval == pytest.approx(2.5 / 3)
    assert found.efficiency["exact_match"].a_thousand_tokens == pytest.approx(2 / 0.1)
    assert found.routes.questions == {
        "generate": 2 / 4, "retrieve": 1 / 4, "decompose": 1 / 4, "confident": 0, "direct": 0
    }  # fmt: skip
    assert found.routes.steps == pytest.approx(
        {"generate": 3 / 6, "retrieve": 2 / 6, "decompose": 1 / 6, "confident": 0, "direct": 0}
    )
    assert found.routes.steps_a_question == 6 / 4
    assert (found.score.number, found.score.without, found.score.estimators) == (3, 1, ["probability"])
    assert found.score.auroc and found.score.auroc.value == 1
    assert found.right == "exact_match"


def test_groups_are_of_the_questions_that_tell() -> None:
    found = run_figures(FIVE)
    assert [(each.name, each.questions) for each in found.by_hops] == [("1", 1), ("2", 2)]
    assert [(each.name, each.questions) for each in found.by_kind] == [("when", 1), ("who", 2)]
    two = found.by_hops[1]
    assert (two.quality["f1"].value, two.retrieved.value, two.retrievals.value) == (0.75, 1, 1.5)
    assert (two.routes.questions["decompose"], two.routes.steps["retrieve"]) == (1 / 2, 2 / 4)


def test_what_counts_as_right_can_be_chosen() -> None:
    by_f1 = run_figures(FIVE, right="f1")
    assert by_f1.score and by_f1.score.right == pytest.approx(2 / 3)  # an F1 of .5 is right
    with pytest.raises(SettingsError, match="not scored by 'judge'; choose one of exact_match, f1"):
        run_figures(FIVE, right="judge")


def test_nothing_finished_gives_no_figures() -> None:
    for outcomes in ([], [failure("a"), failure("b")]):
        found = run_figures(outcomes)
        assert (found.questions, found.failed) == (len(outcomes), len(outcomes))
        assert (found.quality, found.efficiency, found.by_hops, found.by_kind) == ({}, {}, [], [])
        assert (found.cost, found.retrieved, found.routes, found.score) == (None, None, None, None)


def test_what_cost_nothing_has_no_efficiency() -> None:
    found = run_figures([outcome("a"), outcome("b", 0.0)])
    assert found.efficiency["f1"].model_dump() == {"a_retrieval": None, "a_thousand_tokens": None}
    assert found.score is None


def many(number: int) -> Iterator[Outcome]:
    draw = random.Random(0)
    for place in range(number):
        sure = draw.random()
        yield outcome(
            f"q{place}",
            float(draw.random() < sure),
            f1=draw.randrange(8) / 7,
            hops=1 + place % 3,
            confidence=sure,
            retrievals=draw.randrange(3),
            seconds=draw.random(),
            input_tokens=draw.randrange(900),
        )


def test_figures_are_json_and_do_not_depend_on_the_order() -> None:
    outcomes = list(many(200))
    found = run_figures(outcomes)
    random.Random(1).shuffle(outcomes)
    assert run_figures(outcomes).model_dump_json() == found.model_dump_json()
    assert RunFigures.model_validate_json(found.model_dump_json()) == found
    assert run_figures(outcomes, seed=1).quality["f1"] != found.quality["f1"]
    assert found.seed == 0


def test_bins_are_of_the_reliability_table() -> None:
    found = run_figures(many(40), bins=15)
    assert found.score and len(found.score.reliability) == 15
