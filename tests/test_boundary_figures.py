"""The figures of a boundary report, against hands and against the paper's Table 4."""

import pytest

from knowwhen.evaluation.both_answers import BothAnswers, Judgement
from knowwhen.evaluation.boundary_figures import Boundary, Measured, Scores, Verdicts, boundary, measured
from knowwhen.evaluation.figures.resampling import weighted_means
from knowwhen.models.cost import NO_COST


def both(direct: str, confident: str | None, judgement: Judgement | None = None) -> BothAnswers:
    """Of a question about Velo Taray; None: declined."""
    return BothAnswers(
        question_id="q",
        question="Who?",
        golden_answers=("Velo Taray", "V. T."),
        direct=direct,
        confident="RAG_REQUIRED" if confident is None else confident,
        declined=confident is None,
        judgement=judgement,
        cost=NO_COST,
        judge_cost=None,
    )


FIVE = [
    both("Velo Taray", "Velo Taray"),
    both("Velo", "Velo Taray"),  # F1 2/3 of Direct QA and between the two
    both("Zed", None),
    both("The Velo Taray!", None),
    both("It was Velo Taray in 2010", "It is Zed"),  # F1 1/2 of Direct QA, 2/9 between the two
]


def figures(scores: Scores) -> list[float] | None:
    if scores.f1 is None or scores.exact_match is None or scores.accuracy is None:
        assert (scores.number, scores.f1, scores.exact_match, scores.accuracy, scores.mean) == (
            0,
            *[None] * 4,
        )
        return None
    three = [scores.f1.value, scores.exact_match.value, scores.accuracy.value]
    assert scores.mean == pytest.approx(sum(three) / 3)
    return three


def test_five_questions_scored_by_hand() -> None:
    found = boundary("five", [measured(FIVE, failed=1, left_out=7)])
    assert [
        (row.number, figures(row))
        for row in (found.direct, found.confident, found.knowledge_gap, found.consistency, found.difference)
    ] == [
        (5, pytest.approx([(1 + 2 / 3 + 0 + 1 + 1 / 2) / 5, 2 / 5, 3 / 5])),
        (3, pytest.approx([2 / 3, 2 / 3, 2 / 3])),
        (2, pytest.approx([1 / 2, 1 / 2, 1 / 2])),
        (3, pytest.approx([(1 + 2 / 3 + 2 / 9) / 3, 1 / 3, 2 / 3])),
        (5, pytest.approx([1 / 6, 1 / 6, 1 / 6])),
    ]
    assert found.verdicts == Verdicts(answered_right=1, answered_wrong=2, declined_right=1, declined_wrong=1)
    assert found.declines_right
    assert found.declines_right.value == pytest.approx(2 / 5)
    assert (found.dataset, found.failed, found.left_out, found.empty) == ("five", 1, 7, 0)


def test_all_declined_and_none_declined_leave_figures_out() -> None:
    declined = boundary("d", [measured([both("Zed", None), both("Velo Taray", None), both("Zed", None)])])
    assert figures(declined.knowledge_gap) == figures(declined.direct) == pytest.approx([1 / 3] * 3)
    assert [figures(row) for row in (declined.confident, declined.consistency, declined.difference)] == [
        None
    ] * 3
    assert declined.declines_right
    assert declined.declines_right.value == pytest.approx(2 / 3)

    answered = boundary("a", [measured([both("Zed", "Zed"), both("Zed", "Velo Taray")])])
    assert figures(answered.confident) == figures(answered.consistency) == [0.5, 0.5, 0.5]
    assert [figures(row) for row in (answered.knowledge_gap, answered.difference)] == [None, None]
    assert answered.verdicts.model_dump() == {
        "answered_right": 0, "answered_wrong": 2, "declined_right": 0, "declined_wrong": 0
    }  # fmt: skip

    nothing = boundary("n", [measured([], failed=3)])
    assert (figures(nothing.direct), nothing.declines_right, nothing.failed) == (None, None, 3)


def test_empty_replies_are_counted() -> None:
    records = [both("", None).model_copy(update={"confident": ""}), both("", "Velo Taray")]
    found = boundary("e", [measured(records)])
    assert found.empty == 1
    assert figures(found.direct) == [0, 0, 0]
    assert figures(found.consistency) == [0, 0, 0]


def test_a_judge_decides_on_accuracy_alone() -> None:
    records = [
        both("Zed", "Velo Taray", Judgement(direct=0.5, confident=0.25, consistent=0.75, unread=0)),
        both("Zed", None, Judgement(direct=0, confident=None, consistent=None, unread=2)),
    ]
    found = boundary("j", [measured(records)])
    assert figures(found.direct) == [0, 0, 0.25]
    assert figures(found.confident) == [1, 1, 0.25]
    assert figures(found.consistency) == [0, 0, 0.75]
    assert figures(found.knowledge_gap) == [0, 0, 0]
    assert found.verdicts.answered_wrong == 1  # which is by exact match
    assert found.unread == 2


# Table 4: number, F1, EM and Acc† of Direct QA, Confident QA and Direct QA on what was declined, in percent.
TABLE_4 = {
    "Natural Questions": ((100, 53.0, 34.0, 68.0), (67, 68.7, 46.3, 82.1), (33, 22.0, 21.2, 33.3)),
    "TriviaQA": ((100, 91.8, 90.0, 90.0), (93, 94.6, 92.5, 94.6), (7, 35.7, 28.6, 42.9)),
    "PopQA": ((100, 61.1, 54.0, 58.0), (57, 79.5, 73.7, 75.4), (43, 35.8, 30.2, 32.6)),
    "WebQuestions": ((100, 40.8, 18.0, 60.0), (78, 51.3, 25.6, 65.4), (22, 9.8, 0.0, 36.4)),
}


def published(name: str) -> Measured:
    """Answers that are all as good as the paper's are on average."""
    direct, confident, gap = (
        [(f1 / 100, em / 100, acc / 100)] * number for number, f1, em, acc in TABLE_4[name]
    )
    right = [(True, True)] * len(confident) + [(False, False)] * len(gap)
    return Measured(direct, confident, gap, confident, right, empty=1, unread=2, failed=3, left_out=4)


def average(*names: str) -> Boundary:
    return boundary("average", [published(name) for name in names])


def test_the_average_is_the_papers() -> None:
    found = average(*TABLE_4)
    rows = (found.direct, found.confident, found.knowledge_gap)
    assert [row.number for row in rows] == [400, 295, 105]
    assert [round(100 * (row.mean or 0), 1) for row in rows] == [59.9, 70.8, 27.4]
    # Appendix C calls these accuracies (Figure 9): 73.5, 25.8 and 47.7 between them.
    shares = [row.f1.value for row in (found.confident, found.knowledge_gap, found.difference) if row.f1]
    assert [round(100 * share, 1) for share in shares] == [73.5, 25.8, 47.7]
    assert (found.empty, found.unread, found.failed, found.left_out) == (4, 8, 12, 16)


def test_a_dataset_without_such_questions_is_left_out_of_their_average() -> None:
    answered = measured([both("Zed", "Velo Taray")])
    found = boundary("average", [published("PopQA"), answered])
    alone = average("PopQA")
    assert (found.knowledge_gap, found.difference) == (alone.knowledge_gap, alone.difference)
    assert figures(found.confident) == pytest.approx([(0.795 + 1) / 2, (0.737 + 1) / 2, (0.754 + 1) / 2])
    assert found.declines_right
    assert found.declines_right.value == pytest.approx((1 + 0) / 2)  # each dataset counts alike


def test_an_interval_is_as_wide_as_the_normal_one_and_narrows_with_more() -> None:
    half = [0.0, 1.0]
    for n in (100, 1600):
        found = weighted_means([half * (n // 2)], [1])
        assert found.value == 0.5
        deviation = 1.96 * 0.5 / n**0.5
        assert (found.low, found.high) == (
            pytest.approx(0.5 - deviation, rel=0.05), pytest.approx(0.5 + deviation, rel=0.05)
        )  # fmt: skip


def test_samples_are_resampled_each_by_itself() -> None:
    found = weighted_means([[0.0, 1.0] * 50, [0.0, 1.0] * 50], [1, -1])  # alike, but not the same questions
    assert found.value == 0
    assert found.high == pytest.approx(1.96 * 0.5 / 10 * 2**0.5, rel=0.1)
    weighted = weighted_means([[1.0] * 3, [0.0] * 2], [0.25, 0.75])
    assert (weighted.value, weighted.low, weighted.high) == (0.25, 0.25, 0.25)


def test_intervals_are_the_seeds_and_one_value_has_none() -> None:
    sample = [0.1, 0.9, 0.4, 0.4, 0.7]
    assert weighted_means([sample], [1], seed=3) == weighted_means([sample], [1], seed=3)
    assert weighted_means([sample], [1], seed=3) != weighted_means([sample], [1], seed=4)
    alone = weighted_means([sample, [1.0]], [1, -1])
    assert (alone.value, alone.low, alone.high) == (pytest.approx(-0.5), None, None)
