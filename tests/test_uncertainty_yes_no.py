"""The yes/no prompt asks once, counts its call, and takes nothing but yes for yes."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from evidences import greedy
from langchain_openai import ChatOpenAI
from openai_server import serve
from scripted import ScriptedChat

from knowwhen.models import Capability, Door
from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.uncertainty.score import EvidenceError
from knowwhen.uncertainty.yes_no import YesNo


@contextmanager
def saying(tops: list[tuple[str, float]], text: str = "Yes") -> Iterator[Door]:
    """A door to a server whose first token has these most probable tokens with their probabilities."""
    chat = ScriptedChat([(text, 0.5)])

    class Weighing(ScriptedChat):
        def _generate(self, *given: Any, **keywords: Any) -> Any:
            result = super()._generate(*given, **keywords)
            content = result.generations[0].message.response_metadata["logprobs"]["content"]
            content[0]["top_logprobs"] = [
                {"token": token, "logprob": math.log(share)} for token, share in tops
            ]
            return result

    with serve(Weighing(chat.script)) as server:
        yield Door(
            ChatOpenAI(base_url=server.base_url, api_key="x", model="tiny", use_responses_api=False)  # type: ignore[arg-type]
        )


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Yes", 1.0),
        ("yes.", 1.0),
        ("**Yes**, I do.", 1.0),
        ("No", 0.0),
        ("no, not enough", 0.0),
        ("Perhaps", 0.0),
        ("Yesterday I did", 0.0),
        ("", 0.0),
    ],
)
def test_only_yes_is_yes(reply: str, value: float) -> None:
    chat = ScriptedChat([reply])
    score = YesNo(Door(chat)).score(greedy())
    assert (score.value, score.kind, score.diagnostics["reply"]) == (value, "confidence", reply)
    assert score.cost["model_calls"] == 1
    assert chat.prompts[0].startswith("Who directed it?\n")
    assert chat.calls[0]["temperature"] == 0


def test_graded_it_is_the_share_of_yes_among_yes_and_no() -> None:
    with saying([("Yes", 0.5), (" yes", 0.1), ("No", 0.2), ("Yesterday", 0.1)]) as door:
        score = YesNo(door, graded=True).score(greedy())
    assert score.value == pytest.approx(0.6 / 0.8)
    assert score.cost["model_calls"] == 1 and score.settings == {"graded": True}


def test_graded_a_first_token_without_yes_and_no_has_no_score() -> None:
    with (
        saying([("Perhaps", 0.9), ("Maybe", 0.1)]) as door,
        pytest.raises(EvidenceError, match="neither yes nor no"),
    ):
        YesNo(door, graded=True).score(greedy())


def test_graded_it_needs_a_model_with_log_probabilities_when_it_is_made() -> None:
    door = Door(ScriptedChat(["yes"], reports=frozenset({Capability.TEXT})))
    with pytest.raises(CapabilityError, match="use graded=False"):
        YesNo(door, graded=True)
    assert YesNo(door).score(greedy()).value == 1


def test_another_prompt_makes_another_score() -> None:
    door = Door(ScriptedChat(["yes", "yes"]))
    other = YesNo(door, prompt="{prompt} Sure?").score(greedy())
    with pytest.raises(SettingsError, match="cannot be compared"):
        other.surer_than(YesNo(door).score(greedy()))
