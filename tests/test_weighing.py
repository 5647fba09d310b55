"""Weighing: answers with their scores, what both cost, and evidence of which no score can be made."""

from typing import Any

import pytest
from scripted import ScriptedChat

from knowwhen.models.capability import Capability
from knowwhen.models.door import Door
from knowwhen.models.errors import CapabilityError
from knowwhen.uncertainty.consistency import Consistency
from knowwhen.uncertainty.perplexity import Perplexity
from knowwhen.uncertainty.verbalised import Verbalised
from knowwhen.uncertainty.weighing import weigh
from knowwhen.uncertainty.yes_no import YesNo

K = 4


class Sampled(ScriptedChat):
    """A greedy answer, and samples by the round in which they are drawn."""

    rounds: list[list[str]]

    def _reply(self, prompt: str, position: int) -> Any:
        call = self.calls[position]
        if not call["temperature"]:
            return "greedy " + prompt
        earlier = [c for c in self.calls[:position] if c["temperature"]]
        drawn = self.rounds[len(earlier)]
        assert call.get("n", 1) == len(drawn)
        return list(drawn)


def test_without_an_estimator_there_are_answers_alone() -> None:
    model = ScriptedChat(lambda prompt: prompt.upper())
    one, other = weigh(Door(model), None, ["a", "b c"])
    assert [(each.answer.text, each.score, each.note) for each in (one, other)] == [
        ("A", None, None),
        ("B C", None, None),
    ]
    assert [each.cost["input_tokens"] for each in (one, other)] == [1, 2]
    assert [call["temperature"] for call in model.calls] == [0.0, 0.0]


def test_each_prompt_has_its_own_answer_score_and_cost() -> None:
    def say(prompt: str) -> tuple[str, float]:
        return ("Alba", 0.5) if prompt == "a" else ("Beda Ceno", 0.8)

    one, other = weigh(Door(ScriptedChat(say)), Perplexity(), ["a", "b"])
    assert one.score and other.score
    assert (one.score.value, other.score.value) == pytest.approx((2.0, 1.25))
    assert (one.answer.text, other.answer.text) == ("Alba", "Beda Ceno")
    assert (one.cost["output_tokens"], other.cost["output_tokens"]) == (1, 2)


def test_log_probabilities_can_be_asked_for_beside_what_the_estimator_needs() -> None:
    model = ScriptedChat(lambda prompt: ("Alba", 0.5))
    (plain,) = weigh(Door(model), Consistency(K), ["a"])
    (told,) = weigh(Door(model), Consistency(K), ["a"], logprobs=True)
    assert plain.answer.tokens is None
    assert told.answer.tokens is not None and told.answer.tokens[0].token == "Alba"


def test_samples_are_drawn_with_the_parameters_given_and_the_answer_is_greedy() -> None:
    model = ScriptedChat(lambda prompt: "x")
    weigh(Door(model), Consistency(K), ["a"], temperature=0.7, top_p=0.9, top_k=50, stop=["\n"], max_tokens=9)
    greedy, sampled = sorted(model.calls, key=lambda call: call["temperature"])
    assert greedy == {"temperature": 0.0, "max_tokens": 9, "stop": ["\n"]}
    assert sampled == {
        "n": K, "temperature": 0.7, "top_p": 0.9, "top_k": 50, "max_tokens": 9, "stop": ["\n"]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rounds", "value"),
    [
        ([["x", "x", "x", "x"]], 1.0),
        ([["x", "", "x", "y"], ["x"]], 0.75),
        ([["", " ", "\n", "x"], ["y", "", "x"], ["x"]], 0.75),
    ],
)
def test_empty_samples_are_drawn_again_and_every_one_drawn_is_paid_for(
    rounds: list[list[str]], value: float
) -> None:
    model = Sampled([], rounds=rounds)
    (weighed,) = weigh(Door(model), Consistency(K), ["a"])
    assert weighed.score and weighed.score.value == value and weighed.note is None
    assert weighed.answer.text == "greedy a"
    assert weighed.cost["model_calls"] == 1 + len(rounds) == len(model.calls)
    assert weighed.cost["sequences"] == 1 + sum(map(len, rounds))
    texts = ["greedy a", *(text for drawn in rounds for text in drawn)]
    assert weighed.cost["output_tokens"] == sum(len(text.split()) for text in texts)


def test_too_few_samples_with_text_are_no_score_but_a_note_and_a_cost() -> None:
    rounds = [["", "", "", "x"], ["", "", ""], ["", "", ""]]
    (weighed,) = weigh(Door(Sampled([], rounds=rounds)), Consistency(K), ["a"])
    assert weighed.score is None
    assert weighed.note and weighed.note.startswith("taken for unsure: 4 samples are needed")
    assert "only 1 have text" in weighed.note
    assert (weighed.cost["model_calls"], weighed.cost["sequences"]) == (4, 1 + 4 + 3 + 3)


def test_what_an_estimator_asks_itself_is_paid_for_too() -> None:
    def say(prompt: str) -> str:
        return "Confidence: 80" if "How sure" in prompt else "yes"

    door = Door(ScriptedChat(say))
    for estimator, value in ((Verbalised(door), 0.8), (YesNo(door), 1.0)):
        (weighed,) = weigh(door, estimator, ["{a} {}"])
        assert weighed.score and weighed.score.value == value
        assert (weighed.cost["model_calls"], weighed.cost["sequences"]) == (2, 2)


def test_an_answer_that_states_no_confidence_is_unsure_with_a_note() -> None:
    door = Door(ScriptedChat(lambda prompt: "I am {sure}"))
    (weighed,) = weigh(door, Verbalised(door), ["a"])
    assert weighed.score is None and weighed.note
    assert weighed.note.startswith("taken for unsure: no confidence is stated")
    assert (weighed.cost["model_calls"], weighed.cost["sequences"]) == (2, 2)


def test_a_model_that_does_not_report_what_is_needed_is_refused() -> None:
    door = Door(ScriptedChat(["x"], reports=frozenset({Capability.TEXT})))
    with pytest.raises(CapabilityError, match="n samples"):
        weigh(door, Consistency(K), ["a"])
