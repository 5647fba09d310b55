import asyncio
import json
import math
import random
import shutil
from pathlib import Path

import pytest
import torch
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.prompts import ChatPromptTemplate
from safetensors.torch import load_file, save_file
from tiny_models import (  # noqa: F401
    BEGIN,
    endless_llama,
    save_tiny_model,
    tiny_llama,
    tiny_llama_without_template,
    tiny_model,
)

from knowwhen.models.capability import Capability, capabilities
from knowwhen.models.errors import ModelError, SettingsError
from knowwhen.models.transformers_chat import ChatTransformers

PROMPT = "Which of the two films has the older director?"
PROMPTS = [f"Question {number}: who wrote the book in {1900 + number}, and where?" for number in range(20)]


@pytest.fixture
def chat(tiny_llama: Path) -> ChatTransformers:  # noqa: F811
    return ChatTransformers(path=str(tiny_llama), max_tokens=16)


def prompt_ids(model: ChatTransformers, prompt: str) -> torch.Tensor:
    """The prompt's tokens as the chat template makes them, (1, tokens)."""
    tokenizer = model.weights.tokenizer
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True
    )
    return torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]])


def greedy_ids(model: ChatTransformers, prompt: str, tokens: int) -> list[int]:
    """What transformers' own generate answers greedily."""
    ids = prompt_ids(model, prompt)
    with torch.inference_mode():
        out = model.weights.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False, pad_token_id=0
        )
    return out[0, ids.shape[1] :].tolist()


def entries(message: BaseMessage) -> list[dict]:
    return message.response_metadata["logprobs"]["content"]


def token_ids(model: ChatTransformers, reported: list[dict]) -> list[int]:
    """The tokens that log-probabilities were reported of; in a byte-level vocabulary the bytes tell which."""
    ids = {model.weights.token_bytes[token]: token for token in range(len(model.weights.tokenizer))}
    return [ids[bytes(entry["bytes"])] for entry in reported]


def full_pass(model: ChatTransformers, prompt: str, reported: list[dict]) -> tuple[list[int], torch.Tensor]:
    """The reported tokens, and the log-probabilities there in one uncached pass, (tokens, vocabulary)."""
    ids = token_ids(model, reported)
    with torch.inference_mode():
        whole = torch.cat([prompt_ids(model, prompt), torch.tensor([ids])], dim=1)
        return ids, model.weights.model(whole).logits[0, -len(ids) - 1 : -1].log_softmax(dim=-1)


def samples(model: ChatTransformers, prompt: str = PROMPT, **settings: object) -> list[ChatGeneration]:
    return model.generate([[HumanMessage(prompt)]], **settings).generations[0]


def texts(model: ChatTransformers, **settings: object) -> list[str]:
    return [sample.text for sample in samples(model, **settings)]


# What is answered


def test_greedy_answers_are_those_of_transformers_generate_in_three_families(tiny_model: Path):  # noqa: F811
    model = ChatTransformers(path=str(tiny_model), max_tokens=24)
    for prompt in PROMPTS:
        expected = model.weights.tokenizer.decode(greedy_ids(model, prompt, 24), skip_special_tokens=True)
        assert model.invoke(prompt).content == expected


def test_log_probabilities_are_those_of_a_full_forward_pass(tiny_model: Path):  # noqa: F811
    model = ChatTransformers(path=str(tiny_model), max_tokens=12, logprobs=True, top_logprobs=4)
    for prompt in PROMPTS[:4]:
        for sample in samples(model, prompt, n=3, temperature=0.7, top_p=0.9, top_k=50, seed=1):
            reported = entries(sample.message)
            ids, expected = full_pass(model, prompt, reported)
            own = expected.gather(-1, torch.tensor(ids)[:, None])[:, 0].tolist()
            assert [entry["logprob"] for entry in reported] == pytest.approx(own, abs=1e-4)
            top, top_ids = expected.topk(4, dim=-1)
            assert [[t["logprob"] for t in entry["top_logprobs"]] for entry in reported] == [
                pytest.approx(row, abs=1e-4) for row in top.tolist()
            ]
            shown = [token_ids(model, entry["top_logprobs"]) for entry in reported]
            assert shown == top_ids.tolist()


def test_log_probabilities_have_the_layout_of_openai(chat: ChatTransformers):
    message = chat.invoke(PROMPT, logprobs=True, top_logprobs=2)
    for entry in entries(message):
        assert set(entry) == {"token", "logprob", "bytes", "top_logprobs"}
        assert bytes(entry["bytes"]).decode(errors="replace") == entry["token"]
        assert [set(other) for other in entry["top_logprobs"]] == [{"token", "logprob", "bytes"}] * 2
        assert entry["logprob"] == entry["top_logprobs"][0]["logprob"] <= 0
    assert b"".join(bytes(e["bytes"]) for e in entries(message)).decode(errors="replace") == message.content
    assert "logprobs" not in chat.invoke(PROMPT).response_metadata
    assert json.loads(json.dumps(message.response_metadata)) == message.response_metadata


def test_an_end_token_ends_the_answer_and_is_counted_but_not_among_its_tokens(chat: ChatTransformers):
    ended = 0
    for seed in range(6):
        message = chat.invoke(PROMPT, temperature=3.0, seed=seed, logprobs=True, max_tokens=400)
        if message.response_metadata["finish_reason"] == "stop":
            ended += 1
            assert len(entries(message)) == message.usage_metadata["output_tokens"] - 1
            assert "<|end|>" not in message.content
    assert ended


def test_without_a_chat_template_the_contents_are_joined_by_blank_lines(
    tiny_llama_without_template: Path,  # noqa: F811
):
    model = ChatTransformers(path=str(tiny_llama_without_template), max_tokens=8)
    conversation = [
        SystemMessage("Be brief."),
        HumanMessage("Who?"),
        AIMessage("She."),
        HumanMessage("When?"),
    ]
    joined = "Be brief.\n\nWho?\n\nShe.\n\nWhen?"
    assert model.invoke(conversation).content == model.invoke(joined).content
    assert model.get_num_tokens_from_messages(conversation) == model.get_num_tokens(joined)


def test_a_chat_template_shapes_the_prompt(chat: ChatTransformers):
    conversation = [
        SystemMessage("Be brief."),
        HumanMessage("Who?"),
        AIMessage("She."),
        HumanMessage("When?"),
    ]
    written = f"{BEGIN}<system>Be brief.\n<user>Who?\n<assistant>She.\n<user>When?\n<assistant>"
    assert chat.get_num_tokens_from_messages(conversation) == chat.get_num_tokens(written)
    assert chat.invoke(conversation).usage_metadata["input_tokens"] == chat.get_num_tokens(written)


def test_text_blocks_are_read_and_other_blocks_refused(chat: ChatTransformers):
    blocks = [{"type": "text", "text": PROMPT}]
    assert chat.invoke([HumanMessage(blocks)]).content == chat.invoke(PROMPT).content
    with pytest.raises(ModelError, match="reads text only, not image_url"):
        chat.invoke([HumanMessage([*blocks, {"type": "image_url", "image_url": {"url": "data:,"}}])])


# Samples and seeds


def test_n_samples_of_one_call_differ_and_come_again_with_their_seed(chat: ChatTransformers):
    first = texts(chat, n=8, temperature=1.0, seed=3)
    assert len(set(first)) == 8
    assert texts(chat, n=8, temperature=1.0, seed=3) == first
    assert set(texts(chat, n=8, temperature=1.0, seed=4)).isdisjoint(first)


def test_without_a_seed_every_call_draws_anew(chat: ChatTransformers):
    torch.manual_seed(0)
    first = texts(chat, n=4, temperature=1.0)
    torch.manual_seed(0)
    assert set(texts(chat, n=4, temperature=1.0)).isdisjoint(first)


def test_sampling_neither_reads_nor_moves_the_callers_random_generators(chat: ChatTransformers):
    torch.manual_seed(1)
    state, python_state = torch.get_rng_state(), random.getstate()
    first = texts(chat, n=3, temperature=1.0, top_p=0.9, seed=9)
    assert torch.equal(torch.get_rng_state(), state)
    assert random.getstate() == python_state
    torch.manual_seed(2)
    assert texts(chat, n=3, temperature=1.0, top_p=0.9, seed=9) == first


def test_samples_that_end_early_leave_the_others_as_they_are(chat: ChatTransformers):
    together = samples(chat, n=8, temperature=3.0, seed=2, max_tokens=300, logprobs=True)
    lengths = [len(entries(sample.message)) for sample in together]
    assert len(set(lengths)) > 3
    last = lengths.index(max(lengths))
    for sample in (together[last], together[0]):
        reported = entries(sample.message)
        ids, expected = full_pass(chat, PROMPT, reported)
        own = expected.gather(-1, torch.tensor(ids)[:, None])[:, 0].tolist()
        assert [entry["logprob"] for entry in reported] == pytest.approx(own, abs=1e-4)


def test_usage_is_that_of_the_whole_request_on_every_sample(chat: ChatTransformers):
    result = chat.generate(
        [[HumanMessage(PROMPT)]], n=3, temperature=1.0, seed=1, logprobs=True, max_tokens=5
    )
    messages = [sample.message for sample in result.generations[0]]
    assert [m.response_metadata["finish_reason"] for m in messages] == ["length"] * 3
    prompt = prompt_ids(chat, PROMPT).shape[1]
    expected = {"input_tokens": prompt, "output_tokens": 15, "total_tokens": prompt + 15}
    assert [m.usage_metadata for m in messages] == [expected] * 3
    usage = {"prompt_tokens": prompt, "completion_tokens": 15, "total_tokens": prompt + 15}
    assert result.llm_output == {"token_usage": usage, "model_name": chat.path}
    two = chat.generate([[HumanMessage(PROMPT)], [HumanMessage(PROMPT)]], max_tokens=5)
    assert two.llm_output["token_usage"]["completion_tokens"] == 10


def test_several_samples_stay_several_when_a_callback_listens_for_tokens(chat: ChatTransformers):
    plain = texts(chat, n=3, temperature=1.0, seed=1)
    assert texts(chat, n=3, temperature=1.0, seed=1, stream=True) == plain


# Stop strings


def test_a_stop_string_that_spans_tokens_cuts_text_and_tokens(chat: ChatTransformers):
    whole = chat.invoke(PROMPT, logprobs=True, max_tokens=60)
    pieces = [entry["token"] for entry in entries(whole)]
    place = next(i for i in range(2, 58) if len(pieces[i]) > 1 and "".join(pieces[i : i + 2]).isascii())
    stop = pieces[place][-1] + pieces[place + 1][0]
    end = whole.content.index(stop)
    cut = chat.invoke(PROMPT, logprobs=True, max_tokens=60, stop=[stop, "never written"])
    assert cut.content == whole.content[:end]
    assert cut.response_metadata["finish_reason"] == "stop"
    assert entries(cut) == entries(whole)[: place + 1]  # the last one begins before the stop string
    assert cut.usage_metadata["output_tokens"] == place + 2


def test_a_stop_string_at_the_very_beginning_leaves_nothing(chat: ChatTransformers):
    first = chat.invoke(PROMPT).content[0]
    cut = chat.invoke(PROMPT, stop=[first], logprobs=True)
    assert (cut.content, entries(cut), cut.response_metadata["finish_reason"]) == ("", [], "stop")


def test_a_stop_string_can_be_given_with_the_model_bound_or_with_the_call(chat: ChatTransformers):
    text = chat.invoke(PROMPT).content
    stop = text[5]
    cut = text[: text.index(stop)]
    assert chat.bind(stop=[stop]).invoke(PROMPT).content == cut
    assert ChatTransformers(path=chat.path, max_tokens=16, stop=stop).invoke(PROMPT).content == cut


# Through LangChain


def test_invoke_batch_stream_and_their_async_forms_give_the_same_text(chat: ChatTransformers):
    text = chat.invoke(PROMPT).content
    assert [m.content for m in chat.batch([PROMPT, PROMPT])] == [text, text]
    assert "".join(chunk.content for chunk in chat.stream(PROMPT)) == text

    async def asynchronously() -> list[str]:
        streamed = "".join([chunk.content async for chunk in chat.astream(PROMPT)])
        batch = [message.content for message in await chat.abatch([PROMPT, PROMPT])]
        return [(await chat.ainvoke(PROMPT)).content, streamed, *batch]

    assert asyncio.run(asynchronously()) == [text] * 4
    chain = ChatPromptTemplate.from_messages([("human", "{question}")]) | chat.bind(max_tokens=16)
    assert chain.invoke({"question": PROMPT}).content == text


class Listener(BaseCallbackHandler):
    def __init__(self):
        self.tokens: list[str] = []
        self.ended: list[LLMResult] = []

    def on_llm_new_token(self, token: str, **kwargs: object) -> None:
        self.tokens.append(token)

    def on_llm_end(self, response: LLMResult, **kwargs: object) -> None:
        self.ended.append(response)


def test_callbacks_hear_each_token_once_and_the_usage(chat: ChatTransformers):
    listener, usage = Listener(), UsageMetadataCallbackHandler()
    text = "".join(chunk.content for chunk in chat.stream(PROMPT, config={"callbacks": [listener, usage]}))
    assert "".join(listener.tokens) == text and len(listener.tokens) > 3
    assert len(listener.ended) == 1
    assert usage.usage_metadata[chat.path]["output_tokens"] == 16


def test_settings_are_told_apart_and_capabilities_declared(chat: ChatTransformers):
    assert chat._llm_type == "transformers"
    other = ChatTransformers(path=chat.path, max_tokens=16, seed=1)
    assert chat._identifying_params != other._identifying_params
    assert capabilities(chat) == set(Capability)


# What is refused


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"n": 3}, "n=3 samples at temperature 0 are all the same"),
        ({"temperature": -0.1}, "temperature: .*greater than or equal to 0"),
        ({"top_p": 1.5}, "top_p: .*less than or equal to 1"),
        ({"max_tokens": 0}, "max_tokens: .*greater than or equal to 1"),
        ({"top_logprobs": 21}, "top_logprobs: .*less than or equal to 20"),
        ({"stop": ["x", ""]}, "empty stop string"),
        ({"temprature": 1.0}, "temprature: unknown; a call takes temperature"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(chat: ChatTransformers, settings: dict, reason: str):
    with pytest.raises(SettingsError, match=reason) as caught:
        chat.invoke(PROMPT, **settings)
    assert "\n" not in str(caught.value)


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(chat: ChatTransformers):
    prompt = "film " * 600
    tokens = prompt_ids(chat, prompt).shape[1]
    with pytest.raises(ModelError, match=f"has {tokens} tokens and the model's context only 512") as caught:
        chat.invoke(prompt)
    assert "\n" not in str(caught.value)


def test_an_answer_is_cut_where_the_context_ends(endless_llama: Path, tmp_path: Path):  # noqa: F811
    model = ChatTransformers(path=str(save_tiny_model(tmp_path / "short", context=64, endless=True)))
    message = model.invoke("Where was she born?", max_tokens=1000)
    assert message.usage_metadata["total_tokens"] == 64
    assert message.response_metadata["finish_reason"] == "length"


def refused(path: object) -> str:
    with pytest.raises(ModelError) as caught:
        ChatTransformers(path=str(path)).invoke(PROMPT)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_no_model_is_refused_in_one_line(tmp_path: Path, tiny_llama: Path):  # noqa: F811
    assert "there is no model folder" in refused(tmp_path / "nowhere")
    assert "there is no model folder" in refused("./nowhere")
    assert "it has no config.json" in refused(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text('{"model_type": "t5"}')
    assert "cannot load the model" in refused(other)
    for name in ("config.json", "tokenizer.json"):
        damaged = tmp_path / f"damaged-{name}"
        shutil.copytree(tiny_llama, damaged)
        (damaged / name).write_text("{")
        assert "cannot load the model" in refused(damaged)


def test_damaged_or_missing_weights_are_refused_not_drawn_at_random(
    tmp_path: Path,
    tiny_llama: Path,  # noqa: F811
):
    cut = tmp_path / "cut"
    shutil.copytree(tiny_llama, cut)
    weights = (cut / "model.safetensors").read_bytes()
    (cut / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    assert "cannot load the model" in refused(cut)
    tensors = load_file(tiny_llama / "model.safetensors")
    del tensors["lm_head.weight"]
    save_file(tensors, cut / "model.safetensors", metadata={"format": "pt"})
    assert "lacks 1 weights (lm_head.weight" in refused(cut)


def test_a_hub_out_of_reach_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "or a hub id that can be reached" in refused("nobody/nothing")


def test_numbers_that_overflow_are_reported_not_answered(tmp_path: Path, tiny_llama: Path):  # noqa: F811
    broken = tmp_path / "broken"
    shutil.copytree(tiny_llama, broken)
    tensors = load_file(broken / "model.safetensors")
    tensors["model.norm.weight"].fill_(math.inf)
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    assert "overflowed" in refused(broken)


def test_a_model_is_loaded_once_for_all_its_users(chat: ChatTransformers):
    other = ChatTransformers(path=chat.path, temperature=1.0)
    assert other.weights is chat.weights
    assert ChatTransformers(path=chat.path, dtype="bfloat16").weights.model.dtype == torch.bfloat16
