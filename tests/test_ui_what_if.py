"""Moved thresholds: what is told of a run is what asking again gives; what cannot be told is unknown."""

import asyncio
import json
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from knowwhen.ui.request import Library, Request
from knowwhen.ui.run import Run, answering
from knowwhen.ui.what_if.agreement import Agreement
from knowwhen.ui.what_if.band import Band
from knowwhen.ui.what_if.cut import Boundary, Cut, Doubt
from knowwhen.ui.what_if.gates import what_if_of
from knowwhen.ui.what_if.turn import WhatIf

HALF_KNOWN = "Which person starred in Skirn Vlurk and directed Thimis Plolm?"  # at probability 0.69
LIBRARY = Library()


@cache
def asked(method: str, told: str) -> Run:
    settings = json.loads(told)

    async def last() -> Run:
        request = Request(HALF_KNOWN, method, "pocket", "almanac", settings)
        (run,) = [runs[0] async for runs in answering(LIBRARY, request)][-1:]
        return run

    run = asyncio.run(last())
    assert run.state == "answered", run.error
    return run


def run_of(method: str, **settings: Any) -> Run:
    return asked(method, json.dumps(settings, sort_keys=True))


def gate_of(run: Run) -> WhatIf:
    gate = what_if_of(run, LIBRARY)
    assert gate is not None
    return gate


def step(id: str, route: str, score: float | None = None, question: str = "", **more: Any) -> dict[str, Any]:
    parent = id.rpartition(".")[0] or None
    told = {
        "id": id,
        "parent": parent,
        "question": question or f"question {id}",
        "route": route,
        "score": score,
    }
    return {**told, "resolved": told["question"], "answer": f"answer {id}", "details": {}, **more}


def becomes(gate: WhatIf, **values: float) -> dict[str, str]:
    """By id, the route that a step would take, or why there is none."""
    return {turn.step["id"]: turn.route or turn.becomes for turn in gate.turns(values)}


@pytest.mark.parametrize(
    ("method", "settings", "moved", "changes"),
    [
        ("self_dc", {"alpha": 0.7}, {"alpha": 0.5, "beta": 0.1}, 1),
        ("self_dc", {"alpha": 0.7}, {"alpha": 0.9, "beta": 0.1}, 1),
        ("self_dc", {"alpha": 0.7}, {"alpha": 0.72, "beta": 0.2}, 0),
        ("self_dc", {"alpha": 0.7}, {"alpha": 0.75, "beta": 0.25}, 1),
        ("taikc", {"boundary": "estimator"}, {"threshold": 0.05}, 1),
        ("taikc", {"boundary": "estimator"}, {"threshold": 0.995}, 1),
    ],
)
def test_the_routes_told_are_those_of_asking_again(
    method: str, settings: dict[str, Any], moved: dict[str, float], changes: int
) -> None:
    turns = gate_of(run_of(method, **settings)).turns(moved)
    again = {each["id"]: each["route"] for each in run_of(method, **{**settings, **moved}).output["steps"]}
    assert [turn.becomes for turn in turns].count("changes") == changes
    for turn in turns:
        id, or_else = turn.step["id"], {"retrieve"} if "cannot be divided" in turn.why else set()
        assert (turn.becomes == "not asked") == (id not in again)
        assert not turn.route or again[id] in {turn.route, *or_else}


@pytest.mark.parametrize("method", ["self_dc", "keqa", "seakr"])
def test_where_it_was_asked_nothing_changes(method: str) -> None:
    gate = gate_of(run_of(method))
    values = {dial.name: dial.value for dial in gate.dials()}
    turns = gate.turns(values)
    assert {turn.becomes for turn in turns} <= {"stays", "no gate"} and "stays" in {t.becomes for t in turns}
    assert [turn.route for turn in turns] == [turn.step["route"] for turn in turns]
    zones = gate.zones(values)
    assert all(one.end == other.start for one, other in pairwise(zones))


@pytest.mark.parametrize(
    ("method", "settings"),
    [("direct", {}), ("taikc", {}), ("keqa", {"assess": False}), ("seakr", {"retrieval": "always"})],
)
def test_without_a_threshold_there_is_nothing_to_move(method: str, settings: dict[str, Any]) -> None:
    run = Run(Request("Who?", method, "pocket", "almanac", settings))
    assert what_if_of(run, LIBRARY) is None  # it has not been answered
    run.output = {"steps": [step("1.1", "retrieve", 0.5), step("1", "retrieve", 0.5)]}
    assert what_if_of(run, LIBRARY) is None
    assert what_if_of(Run(Request("Who?", "self_dc", "pocket", "almanac"), output=run.output), LIBRARY)


BAND = {"alpha": 0.6, "beta": 0.1, "max_depth": 2}
DIVIDED = [
    step("1", "decompose", 0.6), step("1.1", "decompose", 0.65), step("1.1.1", "retrieve", 0.6),
    step("1.1.2", "generate", 0.9), step("1.2", "retrieve", 0.55), step("1.3", "retrieve", 0.2),
]  # fmt: skip


def test_what_is_not_divided_any_more_has_parts_that_are_not_asked() -> None:
    told = becomes(Band(DIVIDED, BAND), alpha=0.4, beta=0.1)
    assert told == dict.fromkeys(("1.1", "1.1.1", "1.1.2", "1.2", "1.3"), "not asked") | {"1": "generate"}


def test_at_the_greatest_depth_and_where_it_could_not_be_divided_a_question_is_retrieved() -> None:
    gate = Band(DIVIDED, BAND)
    told = {turn.step["id"]: turn for turn in gate.turns({"alpha": 0.6, "beta": 0.45})}
    assert (told["1.1.1"].becomes, told["1.1.1"].route) == ("stays", "retrieve")  # as deep as can be
    assert (told["1.1.2"].becomes, told["1.1.2"].route) == ("changes", "retrieve")  # so is this one
    assert (told["1.2"].becomes, told["1.2"].route) == ("stays", "retrieve")  # it was to be divided before
    assert (told["1.3"].becomes, told["1.3"].route) == ("changes", "decompose")
    assert "unknown" in told["1.3"].why
    assert "may change" in told["1"].why and "may change" in told["1.1"].why and not told["1.2"].why


def quiz(id: str, answers: str, route: str, question: str = "", judged: int = 0) -> dict[str, Any]:
    """A quiz whose answers are letters, alike where the letters are."""
    members: dict[str, list[int]] = {}
    for place, letter in enumerate(answers):
        members.setdefault(letter, []).append(place)
    clusters = list(members.values())
    details = {"samples": [f"Mr {letter}" for letter in answers], "clusters": clusters, "judged": judged}
    score = max(map(len, clusters)) / len(answers)
    answer = {"answer": f"Mr {answers[0]}"} if route == "confident" else {}
    return step(id, route, score, question, details=details, **answer)


def test_fewer_answers_agree_or_not_as_the_first_of_them_do() -> None:
    steps = [
        step("1", "decompose"),
        quiz("1.1", "aabbb", "retrieve", judged=1),
        quiz("1.2", "aaaab", "confident", judged=1),
    ]
    gate = Agreement(steps, {"alpha": 0.8, "tries": 5})
    assert [dial.name for dial in gate.dials()] == ["alpha", "tries"]
    assert becomes(gate, alpha=0.8, tries=5) == {"1": "decompose", "1.1": "retrieve", "1.2": "confident"}
    assert becomes(gate, alpha=0.8, tries=2) == {"1": "decompose", "1.1": "confident", "1.2": "confident"}
    assert becomes(gate, alpha=0.9, tries=5)["1.2"] == "retrieve"
    known = gate.turns({"alpha": 0.6, "tries": 5})[1]
    assert (known.becomes, known.route, known.why) == ("changes", "confident", "its answer would be Mr b")


def test_where_pairs_were_left_out_fewer_answers_are_unknown() -> None:
    gate = Agreement([quiz("1", "aaabc", "retrieve", judged=2)], {"alpha": 0.8, "tries": 5})
    assert becomes(gate, alpha=0.6, tries=5) == {"1": "confident"}
    assert becomes(gate, alpha=0.6, tries=4) == {"1": "unknown"}


def test_a_quiz_that_refers_to_another_answer_is_unknown() -> None:
    steps = [
        step("1", "decompose"), quiz("1.1", "aaaaa", "confident", "Where was #2 born?"),
        quiz("1.2", "aabbb", "retrieve", judged=1), quiz("1.3", "aaaaa", "confident", "Who follows #1?"),
    ]  # fmt: skip
    told = becomes(Agreement(steps, {"alpha": 0.8, "tries": 5}), alpha=0.5, tries=5)
    assert told == {"1": "decompose", "1.1": "unknown", "1.2": "confident", "1.3": "unknown"}


def test_after_the_first_step_that_changes_a_reasoning_is_unknown() -> None:
    final = step("1.4", "direct", -9.0, "From the steps: question 1", resolved="question 1")
    steps = [
        step("1", "retrieve", -9.0), step("1.1", "confident", -7.0), step("1.2", "retrieve", -4.0),
        step("1.3", "confident", -6.0), final,
    ]  # fmt: skip
    gate = Doubt(steps, Cut("δ", -6.0, "uncertainty"))
    same = {"1": "retrieve", "1.1": "confident", "1.2": "retrieve", "1.3": "confident", "1.4": "direct"}
    assert becomes(gate, threshold=-6.0) == becomes(gate, threshold=-4.1) == same
    ends = {"1": "no gate", "1.4": "no gate"}  # which follow from the steps
    assert becomes(gate, threshold=-4.0) == {
        **ends, "1.1": "confident", "1.2": "confident", "1.3": "unknown"
    }  # fmt: skip
    assert becomes(gate, threshold=-6.5) == {**same, **ends, "1.3": "retrieve"}
    assert "from step 1.3 on" in gate.turns({"threshold": -6.5})[0].why
    (dial,) = gate.dials()
    assert dial.low < -9 and dial.high > -4


def test_a_query_that_refers_to_another_answer_is_unknown() -> None:
    def query(id: str, route: str, score: float | None, said: str = "it", **more: Any) -> dict[str, Any]:
        return step(id, route, score, details={"direct_qa": said, "threshold": 0.8}, **more)

    steps = [
        step("1", "decompose"), query("1.1", "retrieve", 0.5),
        query("1.1.1", "confident", 0.9, resolved="other"),
        query("1.2", "retrieve", 0.9, said=""), query("1.3", "retrieve", None),
    ]  # fmt: skip
    gate = Boundary(steps, Cut("threshold", 0.8, "confidence"))
    told = becomes(gate, threshold=0.4)
    assert told == {
        "1": "decompose", "1.1": "confident", "1.1.1": "unknown", "1.2": "retrieve", "1.3": "retrieve"
    }  # fmt: skip
    assert gate.turns({"threshold": 0.4})[1].why == "its answer would be it"
