"""States behind a server's answers, from a local copy of the first layers of its model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_openai import ChatOpenAI
from openai_server import serve
from scripted import ScriptedChat
from tiny_models import MORE_FAMILIES, save_tiny_model, tiny_tokenizer
from transformers import GPT2Config, GPT2LMHeadModel

from knowwhen.models import ChatTransformers, ChatWithStates, Door, HalfDepth
from knowwhen.models.capability import Capability, capabilities
from knowwhen.models.errors import CapabilityError, ModelError, SettingsError
from knowwhen.models.evidence import Answer, Site
from knowwhen.models.half_depth import answer_tokens
from knowwhen.models.prompt_tokens import prompt_tokens
from knowwhen.models.reply import TokenLogprob
from knowwhen.models.weights import Weights, load_weights

QUESTION: list[BaseMessage] = [HumanMessage("Which of the two films has the older director?")]
ANSWERS = [Answer("He was born in 1482."), Answer(""), Answer("nobody knows, in the city")]
SAMPLING: dict[str, Any] = {"temperature": 1.0, "seed": 3, "max_tokens": 12, "logprobs": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "llama", layers=4)


def plain_state(weights: Weights, answer: Answer, layer: int, site: Site) -> np.ndarray:
    """What the whole model has at the end-of-sequence token behind an answer, in a plain pass."""
    ids = [*prompt_tokens(weights.tokenizer, QUESTION), *answer_tokens(weights, answer), weights.end_token]
    outputs: list[torch.Tensor] = []
    mlp = weights.model.model.layers[layer - 1].mlp
    hook = mlp.register_forward_hook(lambda _module, _inputs, output: outputs.append(output))
    with torch.inference_mode():
        states = weights.model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    hook.remove()
    return (states[layer] if site == "residual" else outputs[0])[0, -1].numpy()


@pytest.mark.parametrize("family", MORE_FAMILIES)
@pytest.mark.parametrize("site", ["residual", "mlp"])
def test_half_of_the_layers_give_the_states_of_the_whole_model(tmp_path: Path, family: Any, site: Site):
    path = str(save_tiny_model(tmp_path / "tiny", family, layers=4))
    (states,) = HalfDepth(path).states([QUESTION], [ANSWERS], (None, site))
    assert (states.layer, states.site) == (2, site)
    whole = load_weights(path)
    for answer, values in zip(ANSWERS, states.values, strict=True):
        np.testing.assert_allclose(values, plain_state(whole, answer, 2, site), atol=1e-4)


def test_only_the_layers_needed_are_loaded_and_no_output_layer(folder: Path):
    HalfDepth(str(folder)).states([QUESTION], [ANSWERS], (3, "mlp"))
    half, whole = load_weights(str(folder), layers=3).model, load_weights(str(folder)).model
    assert len(half.layers) == 3 and not hasattr(half, "lm_head")
    assert load_weights(str(folder), layers=3).end_token == load_weights(str(folder)).end_token
    loaded, all_of_it = (sum(each.numel() for each in model.parameters()) for model in (half, whole))
    left_out = [whole.lm_head, whole.model.layers[3]]
    assert all_of_it - loaded == sum(each.numel() for part in left_out for each in part.parameters())


def test_a_servers_answers_have_the_states_that_the_model_itself_shows(folder: Path):
    local = ChatTransformers(path=str(folder))
    asked: dict[str, Any] = {**SAMPLING, "states": (None, "residual"), "stop": ["e"], "max_tokens": 4}
    with serve(local) as server:
        remote = ChatOpenAI(
            base_url=server.base_url, api_key="x", model="tiny", use_responses_api=False, max_retries=0
        )
        model = ChatWithStates(answers=remote, source=HalfDepth(str(folder)))
        door = Door(model, needs=[Capability.HIDDEN_STATES, Capability.LOGPROBS, Capability.SAMPLES])
        found = door.sample(["Who wrote it?", "When?"], 16, **asked)
        assert len(server.requests) == 4
    compared = 0
    for one, other in zip(found, Door(local).sample(["Who wrote it?", "When?"], 16, **asked), strict=True):
        assert [answer.text for answer in one.samples] == [answer.text for answer in other.samples]
        assert one.states is not None and other.states is not None
        assert one.states.values.shape == other.states.values.shape == (16, 64)
        for row, answer in enumerate(one.samples):
            if "\ufffd" not in answer.text:  # a broken character hides which tokens it was made of
                np.testing.assert_allclose(one.states.values[row], other.states.values[row], atol=1e-4)
                compared += 1
    assert compared > 3
    assert found[0].cost is not None and found[0].cost["model_calls"] == 2


def test_the_tokens_of_an_answer_are_those_that_the_server_names(folder: Path):
    weights = load_weights(str(folder))

    def tokens(text: str, *named: str) -> list[int]:
        return answer_tokens(weights, Answer(text, tuple(TokenLogprob(each, -1.0) for each in named)))

    own = weights.tokenizer("the city", add_special_tokens=False)["input_ids"]
    assert tokens("the city", *"the city") == [weights.token_bytes.token_of(c.encode()) for c in "the city"]
    assert tokens("the city", *"the city") != own
    assert tokens("the c", *"the city") == tokens("the city", *"the city")[:5]
    assert tokens("the city", *"the town") == own  # another text
    assert tokens("the city", "the", "\ufffd", "city") == own  # no such token
    assert tokens("the city") == own


def test_answers_read_in_lots_have_the_same_states(folder: Path, monkeypatch: pytest.MonkeyPatch):
    many = [Answer(f"{number} films in the city") for number in range(9)]
    (at_once,) = HalfDepth(str(folder)).states([QUESTION], [many], (2, "mlp"))
    monkeypatch.setattr("knowwhen.models.half_depth.CHUNK", 16)
    lengths: list[int] = []
    embed = load_weights(str(folder), layers=2).model.get_input_embeddings()
    hook = embed.register_forward_hook(lambda _module, inputs, _output: lengths.append(inputs[0].shape[1]))
    (in_lots,) = HalfDepth(str(folder)).states([QUESTION], [many], (2, "mlp"))
    hook.remove()
    np.testing.assert_allclose(at_once.values, in_lots.values, atol=1e-4)
    assert len(lengths) > 4 and max(lengths) < 28


def test_what_cannot_be_read_is_refused_in_one_line(folder: Path, tmp_path: Path):
    def refused(kind: type[Exception], half: HalfDepth, answer: str = "x", layer: int = 1) -> str:
        with pytest.raises(kind) as caught:
            half.states([QUESTION], [[Answer(answer)]], (layer, "mlp"))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "layers 1 to 4; there is no layer 5" in refused(SettingsError, HalfDepth(str(folder)), layer=5)
    assert "are longer than the model's context of 512" in refused(
        ModelError, HalfDepth(str(folder)), "film " * 1000
    )
    assert "cannot load the model" in refused(ModelError, HalfDepth(str(tmp_path / "nowhere")))
    config = GPT2Config(vocab_size=400, n_embd=32, n_layer=2, n_head=2, n_positions=256)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt2")
    tiny_tokenizer().save_pretrained(tmp_path / "gpt2")
    assert "of GPT2Model cannot be read" in refused(CapabilityError, HalfDepth(str(tmp_path / "gpt2")))


def test_beside_its_states_the_model_is_the_one_that_answers(folder: Path):
    inner = ScriptedChat([("Paris", 0.5)] * 2)
    model = ChatWithStates(answers=inner, source=HalfDepth(str(folder)))
    assert capabilities(model) == capabilities(inner) | {Capability.HIDDEN_STATES}
    reply = Door(model).ask("Where?", logprobs=True, max_tokens=3)
    assert reply.text == "Paris" and reply.token_logprobs is not None
    assert inner.calls == [{"stop": None, "logprobs": True, "max_tokens": 3}]


def test_keys_of_the_answering_model_do_not_show_in_errors(folder: Path):
    with serve(ScriptedChat(["never"]), statuses=[401]) as server:
        remote = ChatOpenAI(base_url=server.base_url, api_key="plain-key", model="tiny", max_retries=0)
        model = ChatWithStates(answers=remote, source=HalfDepth(str(folder)))
        assert remote.openai_api_key is not None
        with pytest.raises(ModelError, match="answered 401") as caught:
            Door(model).ask("plain-key?")
    assert "plain-key" not in str(caught.value)
