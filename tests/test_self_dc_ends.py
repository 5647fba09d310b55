"""Self-DC's ends: α = β = 0 is generate-then-read, and α = 1, β = 0 retrieve-then-read, call by call."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from scripted import ScriptedChat
from self_dc_script import Shelf, World

from knowwhen.graphs import generate_then_read, retrieve_then_read, self_dc
from knowwhen.uncertainty.probability import mean_probability
from knowwhen.uncertainty.verbalised import verbalised

Q = "Who directed {Alba}?"
SAMPLING: dict[str, Any] = {"temperature": 0.3, "top_p": 0.7, "max_tokens": 99}

stated = st.one_of(st.integers(0, 99).map(str), st.floats(0, 99.99).map(lambda c: f"{c:.4f}%"))
probabilities = st.floats(1e-9, 1).filter(lambda p: (mean_probability([math.log(p)]) or 1.0) < 1)


def same_from_the_second_call_on(
    self: ScriptedChat, end: ScriptedChat, output: dict[str, Any], expected: dict[str, Any]
) -> None:
    """The confidence costs one call; from then on all is the same."""
    assert self.prompts[1:] == end.prompts
    assert self.calls[1:] == end.calls
    assert output["answer"] == expected["answer"]
    assert output["explanation"] == expected["explanation"]
    assert len(output["steps"]) == len(expected["steps"]) == 1
    gate = {"score", "estimator", "notes"}
    mine, theirs = output["steps"][0], expected["steps"][0]
    assert {k: v for k, v in mine.items() if k not in gate} == {
        k: v for k, v in theirs.items() if k not in gate
    }
    for count in ("retrievals", "passages"):
        assert output["cost"][count] == expected["cost"][count]
    assert output["cost"]["model_calls"] == expected["cost"]["model_calls"] + 1


def compare(end: str, world: World, passages: int = 3, find: Any = None, **choice: Any) -> dict[str, Any]:
    mine, theirs = ScriptedChat(world), ScriptedChat(world)
    shelf, other_shelf = Shelf(find=find), Shelf(find=find)
    alpha = {"generate_then_read": 0.0, "retrieve_then_read": 1.0}[end]
    output = self_dc(mine, shelf, alpha=alpha, beta=0.0, passages=passages, **choice, **SAMPLING).invoke(
        {"question": Q}
    )
    if end == "generate_then_read":
        method = generate_then_read(theirs, **SAMPLING)
    else:
        method = retrieve_then_read(theirs, other_shelf, passages=passages, **SAMPLING)
    same_from_the_second_call_on(mine, theirs, output, method.invoke({"question": Q}))
    assert shelf.queries == other_shelf.queries
    return output


@pytest.mark.parametrize("end", ["generate_then_read", "retrieve_then_read"])
@settings(max_examples=15)
@given(confidence=stated)
def test_with_a_stated_confidence_below_one_each_end_is_met(end: str, confidence: str) -> None:
    world = World(replies={("score_confidence", Q): f"Answer: x\nConfidence: {confidence}"})
    read = verbalised(f"Confidence: {confidence}")
    assert compare(end, world, confidence="verbalised")["confidence"] == read


@pytest.mark.parametrize("end", ["generate_then_read", "retrieve_then_read"])
@settings(max_examples=15)
@given(probability=probabilities)
def test_with_a_probability_below_one_each_end_is_met(end: str, probability: float) -> None:
    output = compare(end, World({Q: probability}), confidence="probability")
    assert output["confidence"] == pytest.approx(probability)


@pytest.mark.parametrize("reply", ["", "no idea", "Confidence: 150"])
@pytest.mark.parametrize("end", ["generate_then_read", "retrieve_then_read"])
def test_without_a_confidence_each_end_is_met(end: str, reply: str) -> None:
    compare(end, World(replies={("score_confidence", Q): reply}), confidence="verbalised")


def test_when_nothing_is_found_or_written_each_end_is_met() -> None:
    silent = World({Q: 0.5}, replies={("generate_background", Q): ""})
    compare("generate_then_read", silent, confidence="verbalised")
    compare("retrieve_then_read", silent, find=lambda query: [], confidence="verbalised")


@pytest.mark.parametrize("passages", [1, 7])
def test_the_end_of_retrieval_reads_as_many_passages(passages: int) -> None:
    found = [Document(f"text {i}") for i in range(20)]
    output = compare(
        "retrieve_then_read", World({Q: 0.5}), passages, lambda query: found, confidence="verbalised"
    )
    assert len(output["steps"][0]["passages"]) == passages


def test_a_confidence_of_one_is_generated_even_where_everything_else_is_retrieved() -> None:
    """Figure 3 has c ≥ α+β generate; so retrieve-then-read is met but for c = 1."""
    output = self_dc(
        ScriptedChat(World({Q: 1.0})), Shelf(), alpha=1.0, beta=0.0, confidence="verbalised"
    ).invoke({"question": Q})
    assert output["steps"][0]["route"] == "generate"
