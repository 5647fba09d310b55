"""States behind a server's answers, told by an SGLang server."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_openai import ChatOpenAI
from scripted import ScriptedChat
from states_server import StatesServer, serve_sglang
from tiny_models import FAMILIES, save_tiny_model

from knowwhen.models import ChatTransformers, ChatWithStates, Door, HalfDepth, SGLangStates
from knowwhen.models.capability import Capability
from knowwhen.models.errors import CapabilityError, KnowwhenError, ModelError, SettingsError
from knowwhen.models.evidence import Answer

QUESTIONS: list[list[BaseMessage]] = [
    [HumanMessage("Which of the two films has the older director?")],
    [HumanMessage("When?")],
]
ANSWERS = [
    [Answer("He was born in 1482."), Answer("")],
    [Answer("nobody knows, in the city"), Answer("1482")],
]
SAMPLING: dict[str, Any] = {"temperature": 1.0, "seed": 3, "max_tokens": 4, "logprobs": True, "stop": ["e"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "llama", layers=4)


def source_of(server: StatesServer, folder: Path, **settings: Any) -> SGLangStates:
    return SGLangStates(server.root, str(folder), **{"max_attempts": 1, **settings})


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("layer", "ids"), [(None, [1]), (3, [2, 0]), (1, [2, 0])])
def test_sglangs_states_are_those_of_a_local_copy(
    tmp_path: Path, family: Any, layer: int | None, ids: list[int]
) -> None:
    path = save_tiny_model(tmp_path / "tiny", family, layers=4)
    with serve_sglang(path, ids) as server:
        remote = source_of(server, path).states(QUESTIONS, ANSWERS, (layer, "residual"))
    local = HalfDepth(str(path)).states(QUESTIONS, ANSWERS, (layer, "residual"))
    for one, other in zip(remote, local, strict=True):
        assert (one.layer, one.site) == (other.layer, other.site)
        np.testing.assert_allclose(one.values, other.values, atol=1e-4)
        assert one.values.dtype == np.float32
    assert len(server.scored) == len(QUESTIONS)  # all answers to a prompt are one request


def test_behind_the_door_an_sglang_server_is_a_model_that_shows_states(folder: Path) -> None:
    local = ChatTransformers(path=str(folder))
    asked: dict[str, Any] = {**SAMPLING, "states": (None, "residual")}
    prompts = ["Who wrote it?", "When?"]
    with serve_sglang(folder, [1]) as server:
        answers = ChatOpenAI(
            base_url=server.server.base_url, api_key="x", model="tiny", use_responses_api=False, max_retries=0
        )
        model = ChatWithStates(answers=answers, source=source_of(server, folder))
        door = Door(model, needs=[Capability.HIDDEN_STATES, Capability.LOGPROBS, Capability.SAMPLES])
        found = door.sample(prompts, 16, **asked)
        without = Door(answers).sample(prompts, 16, **SAMPLING)
    compared = 0
    for one, other in zip(found, Door(local).sample(prompts, 16, **asked), strict=True):
        assert [answer.text for answer in one.samples] == [answer.text for answer in other.samples]
        assert one.states is not None and other.states is not None
        for row, answer in enumerate(one.samples):
            if "\ufffd" not in answer.text:  # a broken character hides which tokens it was made of
                np.testing.assert_allclose(one.states.values[row], other.states.values[row], atol=1e-4)
                compared += 1
    assert compared > 3
    for one, bare, scored in zip(found, without, server.scored, strict=True):
        assert one.cost is not None and bare.cost is not None
        assert one.cost["model_calls"] == bare.cost["model_calls"] + 1
        assert one.cost["sequences"] == bare.cost["sequences"]
        fed = sum(map(len, scored["input_ids"]))
        assert one.cost["input_tokens"] == bare.cost["input_tokens"] + fed
        assert one.cost["output_tokens"] == bare.cost["output_tokens"] + 16


def refused(
    kind: type[KnowwhenError], source: SGLangStates, at: tuple[int | None, Any] = (2, "residual")
) -> str:
    with pytest.raises(kind) as caught:
        source.states(QUESTIONS, ANSWERS, at)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_site_that_a_server_does_not_show_is_refused_before_answers_are_paid_for(folder: Path) -> None:
    with serve_sglang(folder, [1]) as server:
        answers = ScriptedChat(["never"])
        door = Door(ChatWithStates(answers=answers, source=source_of(server, folder)))
        with pytest.raises(CapabilityError, match="not the site 'mlp'"):
            door.sample(["who?"], 2, states=(None, "mlp"))
        assert not answers.prompts


def test_what_sglang_does_not_show_is_refused_before_it_is_asked(folder: Path) -> None:
    with serve_sglang(folder, [0, 2]) as server:
        source = source_of(server, folder)
        assert "shows the residual stream only, not the site 'mlp'" in refused(
            CapabilityError, source, (None, "mlp")
        )
        wrong_layer = refused(CapabilityError, source)
        assert "shows the states of layer 1, 3, not of layer 2; launch it with" in wrong_layer
        assert "--return-aux-hidden-state-layer-ids 1 " in wrong_layer
        assert "there is no layer 5" in refused(SettingsError, source, (5, "residual"))
        assert not server.scored
    with serve_sglang(folder, None) as server:
        assert "shows no inner layers; launch it with" in refused(CapabilityError, source_of(server, folder))
        assert not server.scored


def without_states(replies: Any) -> Any:
    for reply in replies:
        del reply["meta_info"]["hidden_states"]
    return replies


def first_number(number: float | None) -> Any:
    def spoil(replies: Any) -> Any:
        replies[0]["meta_info"]["hidden_states"][0][0] = number
        return replies

    return spoil


@pytest.mark.parametrize(
    ("spoil", "kind", "says"),
    [
        (without_states, CapabilityError, "sent no hidden states; launch it with"),
        (lambda replies: {"error": "?"}, CapabilityError, "sent no hidden states; launch it with"),
        (lambda replies: "busy", ModelError, "answered something else than JSON"),
        (lambda replies: replies[:1], ModelError, r"of shape \(1, 64\) where \(2, 64\) was expected"),
        (first_number(float("nan")), ModelError, "states that are not finite"),
        (first_number(float("inf")), ModelError, "states that are not finite"),
        (first_number(None), ModelError, "states that are not finite"),
        (lambda replies: [first_number("x")(replies)[0]] * 2, ModelError, "no rows of numbers"),
    ],
)
def test_a_reply_without_states_of_this_model_is_one_line(
    folder: Path, spoil: Any, kind: type[KnowwhenError], says: str
) -> None:
    with serve_sglang(folder, [1], spoil) as server, pytest.raises(kind, match=says) as caught:
        source_of(server, folder).states(QUESTIONS, ANSWERS, (2, "residual"))
    assert "\n" not in str(caught.value) and server.root in str(caught.value)


def test_a_server_of_another_model_is_noticed_by_its_width(folder: Path, tmp_path: Path) -> None:
    other = save_tiny_model(tmp_path / "wide", width=128, layers=4)
    with serve_sglang(other, [1]) as server:
        assert "of shape (2, 128) where (2, 64) was expected" in refused(
            ModelError, source_of(server, folder)
        )


def test_a_server_that_fails_is_asked_again_and_one_that_refuses_is_not(folder: Path) -> None:
    with serve_sglang(folder, [1], statuses=[503, 429]) as server:
        found = source_of(server, folder, max_attempts=3).states(QUESTIONS, ANSWERS, (2, "residual"))
        assert len(found) == 2 and len(server.scored) == 4
        server.server.faults.statuses = [400]
        source = source_of(server, folder, max_attempts=3)
        assert "answered 400 (a failure was ordered, key:); it refused" in refused(ModelError, source)
        assert len(server.scored) == 5


def test_a_server_that_is_late_or_gone_is_one_line(folder: Path) -> None:
    with serve_sglang(folder, [1], hang=3.0) as server:
        late = source_of(server, folder, timeout=0.3)
        assert "did not answer in time" in refused(ModelError, late)
    assert "could not be reached" in refused(ModelError, source_of(server, folder))


def test_a_key_is_sent_and_does_not_show_in_errors(folder: Path) -> None:
    with serve_sglang(folder, [1], statuses=[401]) as server:
        said = refused(ModelError, source_of(server, folder, api_key="plain-key"))
    assert "answered 401 (a failure was ordered, key: …); check its API key" in said


def test_settings_that_cannot_work_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="must start with http"):
        SGLangStates("localhost:30000", str(folder))
    with pytest.raises(SettingsError, match="at least 1"):
        SGLangStates("http://localhost:30000", str(folder), max_attempts=0)
    nowhere = SGLangStates("http://localhost:30000", str(tmp_path / "nowhere"))
    assert "cannot load the configuration and tokenizer" in refused(ModelError, nowhere)
