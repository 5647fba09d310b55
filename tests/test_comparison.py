"""Several methods on the same questions, by hand."""

import pytest
from outcomes import failure, outcome

from knowwhen.evaluation.figures.comparison import Comparison, compare
from knowwhen.evaluation.figures.permutation import holm, paired_p
from knowwhen.evaluation.figures.run_figures import run_figures
from knowwhen.evaluation.outcome import Outcome
from knowwhen.models.errors import KnowwhenError, SettingsError

NAMES = "abcdefgh"
NEVER = [1, 1, 1, 0, 0, 0, 0, 1]
ALWAYS = [1, 1, 0, 1, 1, 1, 0, 1]
GATE = [1, 1, 1, 1, 1, 0, 0, 1]
LOOKED_UP = [0, 1, 0, 1, 1, 0, 1, 0]
SURE = [0.9, 0.4, 0.8, 0.3, 0.1, 0.7, 0.2, 0.95]


def runs() -> dict[str, list[Outcome]]:
    gate = zip(NAMES, GATE, LOOKED_UP, SURE, strict=True)
    return {
        "gate": [outcome(n, float(r), retrievals=looked_up, confidence=c) for n, r, looked_up, c in gate],
        "direct": [outcome(name, float(r)) for name, r in zip(NAMES, NEVER, strict=True)],
        "retrieve_then_read": [
            outcome(name, float(r), retrievals=1)
            for name, r in zip(reversed(NAMES), reversed(ALWAYS), strict=True)
        ],
    }  # fmt: skip


def test_three_methods_by_hand() -> None:
    found = compare(runs())
    assert (found.questions, found.left_out) == (8, 0)
    assert list(found.runs) == ["gate", "direct", "retrieve_then_read"]
    assert {name: run.quality["exact_match"].value for name, run in found.runs.items()} == {
        "gate": 6 / 8, "direct": 4 / 8, "retrieve_then_read": 6 / 8
    }  # fmt: skip
    assert found.need
    assert found.need.questions == {"needed": 3, "unneeded": 3, "harmful": 1, "neither": 1}
    gate = found.boundary["gate"]
    assert (gate.over.value, gate.under.value) == (1 / 8, 1 / 8)  # b, and f
    assert (found.boundary["direct"].under.value, found.boundary["direct"].over.value) == (3 / 8, 0)
    always = found.boundary["retrieve_then_read"]
    assert (always.under.value, always.over.value) == (0, 4 / 8)
    assert gate.by_need["needed"].model_dump() == {"questions": 3, "retrieved": 2, "right": 2}


def test_differences_are_paired_by_question_and_corrected_by_metric() -> None:
    found = compare(runs())
    assert [(each.metric, each.one, each.other) for each in found.differences] == [
        (metric, one, other)
        for metric in ("exact_match", "f1")
        for one, other in (
            ("gate", "direct"), ("gate", "retrieve_then_read"), ("direct", "retrieve_then_read")
        )
    ]  # fmt: skip
    exact = found.differences[:3]
    assert [each.difference.value for each in exact] == [2 / 8, 0, -2 / 8]
    raw = [paired_p(GATE, NEVER), paired_p(GATE, ALWAYS), paired_p(NEVER, ALWAYS)]
    assert [each.p for each in exact] == pytest.approx(raw)
    assert [each.p_holm for each in exact] == pytest.approx(holm(raw))
    # Gate and direct differ on two questions, both the gate's: never below 0 in a resample.
    assert exact[0].difference.low == 0


def test_a_gates_score_is_held_against_the_answer_without_retrieval() -> None:
    found = compare(runs())
    assert list(found.scores_of_knowing) == ["gate"]
    score = found.scores_of_knowing["gate"]
    assert score.auroc and score.auroc.value == pytest.approx((4 + 4 + 4 + 3) / 16)
    own = found.runs["gate"].score
    assert own and own.auroc and own.auroc.value == pytest.approx((3 + 5) / 12)
    assert own.right == 6 / 8 and score.right == 4 / 8


def test_figures_are_of_the_questions_that_all_finished() -> None:
    some = runs()
    some["gate"][0] = failure("a")
    some["direct"].append(outcome("z"))
    found = compare(some)
    assert (found.questions, found.left_out) == (7, 2)
    assert found.failed == {"gate": 1, "direct": 0, "retrieve_then_read": 0}
    assert found.runs["direct"] == run_figures(outcomes_of(some["direct"], "bcdefgh"))
    assert found.need and sum(found.need.questions.values()) == 7


def outcomes_of(run: list[Outcome], names: str) -> list[Outcome]:
    return [each for each in run if each.question_id in names]


def test_without_both_reference_runs_nothing_is_said_of_need() -> None:
    some = runs()
    del some["retrieve_then_read"]
    found = compare(some)
    assert (found.need, found.boundary, list(found.scores_of_knowing)) == (None, {}, ["gate"])
    found = compare({"mine": some["direct"], "gate": some["gate"]})
    assert found.scores_of_knowing == {}
    named = compare({"mine": some["direct"], "gate": some["gate"]}, never="mine", always="gate")
    assert named.need and (named.need.never, named.need.always) == ("mine", "gate")


def test_one_run_is_compared_with_nothing() -> None:
    found = compare({"direct": runs()["direct"]})
    assert (found.differences, found.need) == ([], None)
    assert found.runs["direct"] == run_figures(runs()["direct"])


def test_a_comparison_is_json() -> None:
    found = compare(runs())
    assert Comparison.model_validate_json(found.model_dump_json()) == found


def test_runs_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(SettingsError, match="no run to compare"):
        compare({})
    with pytest.raises(KnowwhenError, match="no question was finished by all"):
        compare({"one": [outcome("a")], "other": [outcome("b")]})
    other = outcome("a").model_copy(update={"metrics": {"exact_match": 1.0, "judge": 1.0}})
    with pytest.raises(KnowwhenError, match="one of one and other is not scored by f1, judge"):
        compare({"one": [outcome("a")], "other": [other]})
