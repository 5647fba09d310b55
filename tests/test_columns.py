"""The numbers of outcomes in columns: small, in one order, and nothing unfit among them."""

import math
import random

import numpy as np
import pytest
from outcomes import failure, outcome

from knowwhen.evaluation.figures.columns import Columns, columns_of
from knowwhen.evaluation.outcome import Outcome
from knowwhen.models.errors import KnowwhenError


def some() -> list[Outcome]:
    return [
        outcome("a", hops=2, kind="bridge", confidence=0.25, routes=("decompose", "retrieve", "retrieve")),
        failure("b"),
        outcome("c", 0.0, f1=0.5, hops=1, kind="comparison", retrievals=3, input_tokens=7),
        outcome("d", kind="bridge", routes=("direct",), seconds=0.5),
    ]


def columns_in(found: Columns) -> list[np.ndarray]:
    labels = (found.hops.codes, found.kinds.codes, found.root_routes.codes)
    groups = (found.metrics, found.counts, found.steps)
    inner = [column for group in groups for column in group.values()]
    return [found.keys, found.failed, found.seconds, found.scores, *labels, *inner]


def test_an_outcomes_numbers_are_kept() -> None:
    found = columns_of(some())
    assert len(found) == 4
    assert found.failed.sum() == 1
    only = found.where(found.scores == 0.25)
    assert len(only) == 1
    assert (only.metrics["exact_match"][0], only.metrics["f1"][0], only.seconds[0]) == (1, 1, 1)
    assert {route: int(count[0]) for route, count in only.steps.items() if count[0]} == {
        "retrieve": 2,
        "decompose": 1,
    }
    assert only.root_routes.names[only.root_routes.codes[0]] == "decompose"
    assert (only.hops.names[only.hops.codes[0]], only.kinds.names[only.kinds.codes[0]]) == ("2", "bridge")
    assert (found.score_kind, found.estimators) == ("confidence", ("probability",))
    looked_up = found.where(found.counts["retrievals"] == 3)
    assert (looked_up.counts["input_tokens"][0], looked_up.metrics["f1"][0]) == (7, 0.5)
    assert np.isnan(found.metrics["f1"][found.failed]).all()
    assert (found.hops.codes == -1).sum() == 1  # d has none; b's are known though it failed


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_outcomes_does_not_matter(seed: int) -> None:
    outcomes = some()
    random.Random(seed).shuffle(outcomes)
    mine, theirs = columns_of(outcomes), columns_of(some())
    assert (mine.hops.names, mine.kinds.names) == (theirs.hops.names, theirs.kinds.names)
    for one, other in zip(columns_in(mine), columns_in(theirs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_of_several_outcomes_of_a_question_the_last_counts() -> None:
    found = columns_of([failure("a"), outcome("b", 0.0), outcome("a", 1.0)])
    assert (len(found), found.failed.any()) == (2, False)
    assert sorted(found.metrics["exact_match"]) == [0, 1]
    assert columns_of([outcome("a", 1.0), failure("a")]).failed.tolist() == [True]


def test_no_outcome_and_only_failures_are_columns_too() -> None:
    assert (len(columns_of([])), columns_of([]).metrics) == (0, {})
    found = columns_of([failure("a"), failure("b")])
    assert (len(found), found.metrics, found.score_kind) == (2, {}, None)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(KnowwhenError, match="question b has uncertainty"):
        columns_of([outcome("a"), outcome("b", uncertainty=value)])
    with pytest.raises(KnowwhenError, match="question b has f1"):
        columns_of([outcome("a"), outcome("b", f1=value)])


def test_outcomes_that_do_not_fit_together_are_refused() -> None:
    other = outcome("b").model_copy(update={"metrics": {"exact_match": 1.0}})
    with pytest.raises(KnowwhenError, match="question b is scored by exact_match and those before it by "):
        columns_of([failure("z"), outcome("a"), other])
    with pytest.raises(KnowwhenError, match="some answers have a confidence and some an uncertainty"):
        columns_of([outcome("a", confidence=0.5), outcome("b", uncertainty=0.5)])


def test_a_question_takes_at_most_200_bytes_and_outcomes_are_not_kept() -> None:
    read = 0

    def long_ones() -> object:
        nonlocal read
        for number in range(500):
            read += 1
            yield outcome(f"q{number}", number % 2, hops=number % 4, kind=f"k{number % 3}", confidence=0.5)

    found = columns_of(long_ones())  # type: ignore[arg-type]
    assert read == len(found) == 500
    assert sum(column.nbytes for column in columns_in(found)) <= 200 * 500
