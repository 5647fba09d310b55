"""Gates replayed from records, against a plain reading of each method's rule, question by question."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.evaluation.calibration.records import Asked, Attempt, Combined, Record, Samples
from knowwhen.evaluation.calibration.replays.gate import cuts_between, replay_gate
from knowwhen.evaluation.calibration.replays.keqa import replay_keqa
from knowwhen.evaluation.calibration.replays.replay import Gauge, Replay
from knowwhen.evaluation.calibration.replays.self_dc import replay_self_dc
from knowwhen.evaluation.metrics import exact_match
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.nodes.score_confidence import route_by_band
from knowwhen.uncertainty.clusters import by_normal_form
from knowwhen.uncertainty.largest_cluster import largest_cluster
from knowwhen.uncertainty.score import Score, Threshold

CONFIDENT = Gauge("s", "confidence")
UNSURE = Gauge("s", "uncertainty")
ANSWERS = st.sampled_from("abc")
CONFIDENCES = st.none() | st.sampled_from([round(0.1 * n, 1) for n in range(11)])
COUNTS = st.integers(0, 9)


def attempts(scores: st.SearchStrategy[Any]) -> st.SearchStrategy[Attempt]:
    scored = scores.map(lambda score: {"s": score})
    return st.builds(Attempt, answer=ANSWERS, scores=scored, tokens=COUNTS)


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> Asked:
    parts = tuple(draw(st.lists(trees(depth - 1), max_size=2))) if depth else ()
    combined: list[Combined] = []
    if parts:
        combined = draw(
            st.lists(
                st.builds(Combined, answer=ANSWERS, tokens=COUNTS, of=st.tuples(*(ANSWERS for _ in parts))),
                max_size=3,
            )
        )
        combined.append(Combined(answer=draw(ANSWERS), tokens=draw(COUNTS)))
    return Asked(
        question="q",
        closed_book=draw(attempts(CONFIDENCES)),
        open_book=tuple(draw(st.lists(attempts(CONFIDENCES), min_size=1, max_size=2))),
        retrievals=draw(COUNTS),
        gate_tokens=draw(COUNTS),
        split_tokens=draw(COUNTS),
        parts=parts,
        combined=tuple(combined),
    )  # fmt: skip


def record(asked: Asked, number: int = 0) -> Record:
    return Record(**dict(asked), id=str(number), golden_answers=("a",))


def kept(asked: Asked) -> str:
    def sure(attempt: Attempt) -> float:
        score = attempt.scores["s"]
        return -1 if score is None else score

    return max(asked.open_book, key=sure).answer


def by_figure_3(asked: Asked, alpha: float, beta: float) -> tuple[str, float, int]:
    """Answer, retrievals and tokens of Self-DC, read off the paper's figure."""
    tokens = asked.gate_tokens
    route = route_by_band(asked.closed_book.scores["s"] or 0.0, alpha, beta)
    if route == "generate":
        return asked.closed_book.answer, 0, tokens + asked.closed_book.tokens
    if route == "decompose":
        tokens += asked.split_tokens
        if asked.parts:
            solved = [by_figure_3(part, alpha, beta) for part in asked.parts]
            answers = tuple(answer for answer, _, _ in solved)
            made = next(each for each in asked.combined if each.of in (answers, None))
            if made.of is None:
                made = next((each for each in asked.combined if each.of == answers), made)
            return (
                made.answer,
                sum(r for _, r, _ in solved),
                tokens + made.tokens + sum(t for _, _, t in solved),
            )
    return kept(asked), asked.retrievals, tokens + sum(each.tokens for each in asked.open_book)


@given(st.lists(trees(), min_size=1, max_size=4))
def test_self_dc_is_replayed_as_figure_3_has_it(asked: list[Asked]) -> None:
    bands = [{"alpha": a / 10, "beta": b / 10} for a in range(11) for b in (0, 1, 3, 5)]
    replay = replay_self_dc([record(each, n) for n, each in enumerate(asked)], CONFIDENT, exact_match, bands)
    for row, each in enumerate(asked):
        for column, band in enumerate(bands):
            answer, retrievals, tokens = by_figure_3(each, **band)
            assert at(replay, row, column) == (float(answer == "a"), retrievals, tokens)


def at(replay: Replay, row: int, column: int) -> tuple[float, float, float]:
    gated = replay.gated
    return gated.quality[row, column], gated.retrievals[row, column], gated.tokens[row, column]


@pytest.mark.parametrize("low", [-5e-324, 0.3, 1e17])
def test_neighbouring_scores_are_parted_too(low: float) -> None:
    scores = np.array([low, np.nextafter(low, np.inf)])
    cuts = cuts_between(scores, UNSURE)
    assert [int((scores < cut).sum()) for cut in cuts] == [0, 1, 2]


SCORES = st.none() | st.floats(-10, 10) | st.sampled_from([0.0, 1.0])


@pytest.mark.parametrize("gauge", [CONFIDENT, UNSURE])
@given(data=st.data())
def test_a_threshold_is_replayed_as_scores_meet_it(gauge: Gauge, data: st.DataObject) -> None:
    scores = SCORES if gauge.kind == "uncertainty" else st.none() | st.floats(0, 1)
    leaves = st.builds(
        Asked,
        question=st.just("q"),
        closed_book=attempts(scores),
        open_book=attempts(scores).map(lambda each: (each,)),
        retrievals=COUNTS,
        gate_tokens=COUNTS,
    )
    asked = data.draw(st.lists(leaves, min_size=1, max_size=6))
    if all(each.closed_book.scores["s"] is None for each in asked):
        return
    replay = replay_gate([record(each, n) for n, each in enumerate(asked)], gauge, exact_match)
    seen = set()
    for column, candidate in enumerate(replay.candidates):
        threshold = Threshold(candidate["threshold"], gauge.kind, "s")
        sure = []
        for row, each in enumerate(asked):
            score = each.closed_book.scores["s"]
            met = score is not None and Score(score, gauge.kind, "s").meets(threshold)
            taken, retrievals = (each.closed_book, 0.0) if met else (each.open_book[0], each.retrievals)
            worth = float(taken.answer == "a")
            assert at(replay, row, column) == (worth, retrievals, each.gate_tokens + taken.tokens)
            sure.append(met)
        seen.add(tuple(sure))
    # Every way that a threshold can part the scores, from sure of none to sure of all that have one.
    distinct = {each.closed_book.scores["s"] for each in asked} - {None}
    assert len(seen) == len(distinct) + 1
    assert replay.never.quality.tolist() == [float(each.closed_book.answer == "a") for each in asked]
    assert replay.always.retrievals.tolist() == [each.retrievals for each in asked]


@given(
    st.lists(st.sampled_from(["x", "y", "Z", "the x", "unknown"]), min_size=2, max_size=6),
    COUNTS,
)
def test_keqa_is_replayed_as_its_assessment_goes(answers: list[str], tokens: int) -> None:
    groups, _ = by_normal_form(answers)
    clusters = tuple(
        next((number for number, group in enumerate(groups) if place in group), None)
        for place in range(len(answers))
    )
    one = Record(
        id="1",
        question="q",
        golden_answers=("x",),
        closed_book=Attempt(answer="x"),
        open_book=(Attempt(answer="y", tokens=4),),
        samples=Samples(answers=tuple(answers), clusters=clusters, tokens=tokens),
    )
    replay = replay_keqa([one], CONFIDENT, exact_match)
    assert {each["tries"] for each in replay.candidates} == set(range(2, len(answers) + 1))
    for column, candidate in enumerate(replay.candidates):
        tries = int(candidate["tries"])
        found = largest_cluster("q", answers[:tries])
        known = len(found.members) >= max(1, candidate["alpha"] * tries - 1e-9)
        answer = found.answer if known else "y"
        spent = tokens * tries / len(answers) + (0 if known else 4)
        worth, retrievals, taken = at(replay, 0, column)
        assert (worth, retrievals) == (exact_match(str(answer), ["x"]), 0.0 if known else 1.0)
        assert taken == pytest.approx(spent)


LEAF = Asked(
    question="who?", closed_book=Attempt(answer="a", scores={"s": 0.5}), open_book=(Attempt(answer="b"),)
)


def test_what_a_replay_needs_and_lacks_is_said() -> None:
    two = Asked(**dict(LEAF) | {"parts": (LEAF,), "combined": (Combined(answer="c", of=("z",)),)})
    with pytest.raises(KnowwhenError, match="record 0: 'who\\?' has no answer combined from 'b'"):
        replay_self_dc([record(two)], CONFIDENT, exact_match)
    with pytest.raises(SettingsError, match="'s' is an uncertainty"):
        replay_self_dc([record(LEAF)], UNSURE, exact_match)
    with pytest.raises(SettingsError, match="'who\\?' has no score 'gram'; its scores: s"):
        replay_gate([record(LEAF)], Gauge("gram", "uncertainty"), exact_match)
    with pytest.raises(SettingsError, match="record 0 has no samples"):
        replay_keqa([record(LEAF)], CONFIDENT, exact_match)
    silent = Asked(**dict(LEAF) | {"closed_book": Attempt(answer="a", scores={"s": None})})
    with pytest.raises(SettingsError, match="no answer has a score of 's'"):
        replay_gate([record(silent)], CONFIDENT, exact_match)


def test_of_many_scores_a_thousand_thresholds_are_enough() -> None:
    scores = np.linspace(0, 1, 5000)
    records = [
        record(Asked(**dict(LEAF) | {"closed_book": Attempt(answer="a", scores={"s": float(s)})}), n)
        for n, s in enumerate(scores)
    ]
    replay = replay_gate(records, CONFIDENT, exact_match)
    rates = np.sort(replay.gated.retrievals.mean(axis=0))
    assert len(rates) <= 1001 and (rates[0], rates[-1]) == (0, 1)
    assert np.diff(rates).max() < 0.002
