"""Greedy answers, samples and states through the door, from models that show their inside and that do not."""

import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from openai_server import serve
from scripted import ScriptedChat, Text
from tiny_models import tiny_llama  # noqa: F401

from knowwhen.models import NO_COST, ChatTransformers, Door
from knowwhen.models.capability import Capability
from knowwhen.models.errors import CapabilityError, ModelError, SettingsError
from knowwhen.models.evidence import Evidence

SAMPLING: dict[str, Any] = {"temperature": 1.0, "top_p": 0.9, "max_tokens": 6, "seed": 2}


def texts(evidence: Evidence) -> list[str]:
    assert evidence.greedy is not None
    return [evidence.greedy.text, *(answer.text for answer in evidence.samples)]


def test_a_local_model_answers_with_states_in_one_counted_call(tiny_llama: Path) -> None:  # noqa: F811
    model = ChatTransformers(path=str(tiny_llama))
    door = Door(model, needs=[Capability.HIDDEN_STATES])
    prompts = ["Who wrote it?", [HumanMessage("When?")]]
    found = door.sample(prompts, 4, states=(1, "residual"), logprobs=True, **SAMPLING)
    direct = model.sample(
        [[HumanMessage("Who wrote it?")], [HumanMessage("When?")]], 4, logprobs=True, **SAMPLING
    )
    for one, other in zip(found, direct, strict=True):
        assert texts(one) == texts(other)
        assert one.cost == other.cost
        assert one.states is not None and one.states.values.shape == (4, 64)
        assert one.greedy is not None and one.greedy.tokens is not None
    assert [one.prompt for one in found] == ["Who wrote it?", "When?"]
    assert [one.cost["model_calls"] for one in found if one.cost] == [1, 1]


def test_a_server_gives_the_same_answers_in_two_requests_without_states(
    tiny_llama: Path,  # noqa: F811
) -> None:
    local = ChatTransformers(path=str(tiny_llama))
    with serve(local) as server:
        remote = ChatOpenAI(
            base_url=server.base_url, api_key="x", model="tiny", use_responses_api=False, max_retries=0
        )
        settings = SAMPLING | {"logprobs": True, "top_logprobs": 3, "stop": ["e"]}
        (one,) = Door(remote).sample(["Who wrote it?"], 4, **settings)
        (other,) = Door(local).sample(["Who wrote it?"], 4, **settings)
    assert texts(one) == texts(other)
    for left, right in zip(one.samples, other.samples, strict=True):
        assert left.tokens is not None and right.tokens is not None
        assert [token.token for token in left.tokens] == [token.token for token in right.tokens]
        assert [token.logprob for token in left.tokens] == pytest.approx(
            [token.logprob for token in right.tokens], abs=1e-4
        )
        assert all(len(token.top) == 3 for token in left.tokens)
    assert one.states is None
    assert sorted(request.body.get("n") or 1 for request in server.requests) == [1, 4]
    greedy = next(request.body for request in server.requests if (request.body.get("n") or 1) == 1)
    assert greedy["temperature"] == 0 and "top_p" not in greedy
    assert one.cost is not None and other.cost is not None
    assert one.cost["model_calls"] == 2 and one.cost["sequences"] == 5
    assert one.cost["input_tokens"] == 2 * other.cost["input_tokens"]
    assert one.cost["output_tokens"] == other.cost["output_tokens"]


def test_a_model_of_texts_gives_texts() -> None:
    def reply(prompt: str) -> list[Text]:
        return [f"{prompt} {number}" for number in range(3)]

    plain = ScriptedChat(reply, reports={Capability.TEXT, Capability.SAMPLES})
    first, second = Door(plain).sample(["a", "b"], 3, greedy=False, max_tokens=5)
    assert [answer.text for answer in first.samples] == ["a 0", "a 1", "a 2"]
    assert [answer.text for answer in second.samples] == ["b 0", "b 1", "b 2"]
    assert first.greedy is None and first.samples[0].tokens is None
    assert first.cost == {**NO_COST, "model_calls": 1, "sequences": 3, "input_tokens": 1, "output_tokens": 6}
    assert plain.calls == [{"stop": None, "n": 3, "temperature": 1.0, "max_tokens": 5}] * 2


def test_a_greedy_answer_alone_is_one_request() -> None:
    model = ScriptedChat(["Paris"])
    (evidence,) = Door(model).sample(["Where?"], 0, top_p=0.5, top_k=5, seed=3)
    assert texts(evidence) == ["Paris"]
    assert model.calls == [{"stop": None, "temperature": 0.0, "seed": 3}]


def test_requests_run_side_by_side_within_the_bound_and_in_order() -> None:
    model = ScriptedChat(lambda prompt: prompt.upper(), delay=0.05)
    found = Door(model, max_concurrency=4).sample([f"p{number}" for number in range(12)], 1)
    assert [texts(one) for one in found] == [[f"P{number}"] * 2 for number in range(12)]
    assert model.most_in_flight == 4


def test_one_local_call_takes_one_place(tiny_llama: Path) -> None:  # noqa: F811
    model = ChatTransformers(path=str(tiny_llama))
    door = Door(model, max_concurrency=1)
    threads = [
        threading.Thread(target=door.sample, args=([f"Who {number}?"], 2), kwargs=SAMPLING)
        for number in range(3)
    ]
    with door._model_places:
        for thread in threads:
            thread.start()
        threads[0].join(0.3)
        assert all(thread.is_alive() for thread in threads)
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize(
    ("asked", "reports", "missing"),
    [
        ({"k": 3, "states": (None, "mlp")}, {Capability.TEXT, Capability.SAMPLES}, "hidden states"),
        ({"k": 3}, {Capability.TEXT}, "n samples"),
        ({"k": 1, "logprobs": True}, {Capability.TEXT}, "log-probabilities"),
    ],
)
def test_what_a_model_does_not_report_is_refused_before_it_is_asked(
    asked: dict[str, Any], reports: set[Capability], missing: str
) -> None:
    model = ScriptedChat(["never"], reports=reports)
    with pytest.raises(CapabilityError, match=f"SEAKR needs {missing}.*transformers:<folder>"):
        Door(model, asked_by="SEAKR").sample(["q"], **asked)
    assert model.prompts == []


@pytest.mark.parametrize("k", [-1, 0])
def test_nothing_to_ask_for_is_refused(k: int) -> None:
    with pytest.raises(SettingsError, match="at least 1 samples"):
        Door(ScriptedChat(["never"])).sample(["q"], k, greedy=False)


def test_states_behind_no_samples_are_refused(tiny_llama: Path) -> None:  # noqa: F811
    with pytest.raises(SettingsError, match="read behind samples"):
        Door(ChatTransformers(path=str(tiny_llama))).sample(["q"], 0, states=(1, "mlp"))


def test_samples_without_a_temperature_are_refused() -> None:
    with pytest.raises(SettingsError, match="temperature above 0"):
        Door(ScriptedChat(["never"])).sample(["q"], 3, temperature=0.0)


def test_an_error_of_one_request_is_the_calls(tiny_llama: Path) -> None:  # noqa: F811
    with pytest.raises(ModelError, match="context only 512"):
        Door(ChatTransformers(path=str(tiny_llama))).sample(["short", "film " * 1000], 2)
    failing = ScriptedChat(lambda prompt: ValueError("no") if prompt == "b" else "yes")
    with pytest.raises(ModelError, match="ScriptedChat failed"):
        Door(failing).sample(["a", "b"], 1)
