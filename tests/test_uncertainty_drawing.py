"""Samples that came out empty are drawn again, up to a bound, with their states and their cost."""

import numpy as np
import pytest

from knowwhen.models.cost import NO_COST
from knowwhen.models.evidence import Answer, Evidence, HiddenStates
from knowwhen.uncertainty.drawing import drawn
from knowwhen.uncertainty.gram import Gram
from knowwhen.uncertainty.score import EvidenceError


class Deck:
    """Deals texts in order; the state behind the nth is (n, -n, n * n)."""

    def __init__(self, *texts: str, states: bool = True) -> None:
        self.texts = texts
        self.states = states
        self.asked: list[int] = []

    def __call__(self, n: int) -> Evidence:
        at = sum(self.asked)
        self.asked.append(n)
        rows = np.array([[number, -number, number**2] for number in range(at, at + n)], dtype=np.float32)
        return Evidence(
            "Who directed it?",
            Answer(f"greedy {len(self.asked)}"),
            tuple(Answer(text) for text in self.texts[at : at + n]),
            HiddenStates(rows, 2, "mlp") if self.states else None,
            {**NO_COST, "model_calls": 1, "sequences": n},
        )


def test_only_the_empty_samples_are_drawn_again_with_their_states() -> None:
    deck = Deck("a", "", "c", " \n", "e", "")
    with pytest.raises(EvidenceError):
        drawn(deck, 4, rounds=1)
    deck = Deck("a", "", "c", " \n", "", "f", "g")
    evidence = drawn(deck, 4)
    assert deck.asked == [4, 2, 1]
    assert [sample.text for sample in evidence.samples] == ["a", "c", "f", "g"]
    assert evidence.states is not None
    assert evidence.states.values[:, 0].tolist() == [0, 2, 5, 6]
    assert evidence.greedy == Answer("greedy 1")
    assert evidence.cost == {**NO_COST, "model_calls": 3, "sequences": 7}
    assert Gram(k=4).score(evidence).settings["layer"] == 2


def test_samples_that_all_have_text_are_drawn_once() -> None:
    deck = Deck("a", "b", states=False)
    evidence = drawn(deck, 2)
    assert deck.asked == [2] and evidence.states is None
    assert [sample.text for sample in evidence.samples] == ["a", "b"]


def test_too_few_are_an_error_that_names_the_numbers() -> None:
    deck = Deck(*["a", "", ""] * 9)
    with pytest.raises(
        EvidenceError, match=r"5 samples are needed, and .* 2 rounds only 3 have text"
    ) as error:
        drawn(deck, 5, rounds=2)
    assert deck.asked == [5, 3] and "\n" not in str(error.value)


def test_a_model_that_only_ever_says_nothing_is_asked_no_more_than_the_bound() -> None:
    deck = Deck(*[""] * 99)
    with pytest.raises(EvidenceError, match="only 0 have text"):
        drawn(deck, 3)
    assert deck.asked == [3, 3, 3]
