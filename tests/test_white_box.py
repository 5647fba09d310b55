"""One call for a greedy answer, samples and states: shared prompts, callbacks, refusals, many threads."""

import _thread
import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from safetensors.torch import load_file, save_file
from tiny_models import endless_llama, save_tiny_model, tiny_llama, tiny_tokenizer  # noqa: F401
from transformers import BloomConfig, BloomForCausalLM, GPT2Config, GPT2LMHeadModel, PreTrainedModel

from knowwhen.models.errors import CapabilityError, ModelError, SettingsError
from knowwhen.models.evidence import Evidence
from knowwhen.models.transformers_chat import ChatTransformers

QUESTION = "Which of the two films has the older director?"
SHOTS = "The capital of the country is a city on the river, founded in 1482. " * 4
SAMPLING: dict[str, Any] = {"temperature": 1.0, "top_k": 50, "top_p": 0.9, "seed": 3, "max_tokens": 12}


@pytest.fixture
def chat(tmp_path: Path) -> ChatTransformers:
    """A model of its own for each test, as kept prefixes would tell of other tests."""
    return ChatTransformers(path=str(save_tiny_model(tmp_path / "llama", context=1024)))


def asked(*texts: str) -> list[list[BaseMessage]]:
    return [[HumanMessage(text)] for text in texts]


@contextmanager
def tokens_computed(model: ChatTransformers, then: Callable[[int], object] = id) -> Iterator[list[int]]:
    """How many tokens go through the model in each pass; `then` is told how many passes there were."""
    lengths: list[int] = []

    def note(_module: object, inputs: Any, _output: object) -> None:
        lengths.append(inputs[0].shape[1])
        then(len(lengths))

    hook = model.weights.model.get_input_embeddings().register_forward_hook(note)
    try:
        yield lengths
    finally:
        hook.remove()


def texts(evidence: Evidence) -> list[str]:
    assert evidence.greedy is not None
    return [evidence.greedy.text, *(answer.text for answer in evidence.samples)]


def same(one: Evidence, other: Evidence) -> None:
    assert texts(one) == texts(other)
    assert one.cost == other.cost
    assert (one.states is None) == (other.states is None)
    if one.states is not None and other.states is not None:
        np.testing.assert_allclose(one.states.values, other.states.values, atol=1e-4)


# What comes back


def test_samples_are_those_that_generate_draws(chat: ChatTransformers):
    chat.sample(asked("anything"), 1)  # so that the models' check is behind us
    for stop in (None, ["e"], ["never written"]):
        (evidence,) = chat.sample(asked(QUESTION), 8, logprobs=True, top_logprobs=3, stop=stop, **SAMPLING)
        drawn = chat.generate(asked(QUESTION), n=8, stop=stop, logprobs=True, **SAMPLING).generations[0]
        assert [answer.text for answer in evidence.samples] == [generation.text for generation in drawn]
        greedy = chat.invoke(QUESTION, max_tokens=12, stop=stop)
        assert texts(evidence)[0] == greedy.content
        for answer, generation in zip(evidence.samples, drawn, strict=True):
            reported = generation.message.response_metadata["logprobs"]["content"]
            assert answer.tokens is not None
            assert [token.token for token in answer.tokens] == [entry["token"] for entry in reported]
            assert [token.logprob for token in answer.tokens] == pytest.approx(
                [entry["logprob"] for entry in reported], abs=1e-4
            )
            assert all(len(token.top) == 3 for token in answer.tokens)


def test_what_is_not_asked_for_is_not_there(chat: ChatTransformers):
    (evidence,) = chat.sample(asked(QUESTION), 3, greedy=False, **SAMPLING)
    assert evidence.greedy is None and evidence.states is None and len(evidence.samples) == 3
    assert all(answer.tokens is None for answer in evidence.samples)
    (evidence,) = chat.sample(asked(QUESTION), 0, max_tokens=4)
    assert evidence.greedy is not None and evidence.samples == ()


def test_a_layer_that_is_not_named_is_the_middle_one(tmp_path: Path):
    model = ChatTransformers(path=str(save_tiny_model(tmp_path / "deep", layers=5)))
    first, second = (
        model.sample(asked(QUESTION), 2, states=(layer, "mlp"), **SAMPLING)[0].states for layer in (None, 2)
    )
    assert first is not None and second is not None
    assert first.layer == second.layer == 2 and first.site == "mlp"
    assert first.values.shape == (2, 64) and first.values.dtype == np.float32
    np.testing.assert_allclose(first.values, second.values, atol=1e-5)
    other = model.sample(asked(QUESTION), 2, states=(3, "mlp"), **SAMPLING)[0].states
    assert other is not None and not np.allclose(other.values, first.values, atol=1e-2)


def test_a_prompt_costs_its_tokens_once_whatever_it_shares(chat: ChatTransformers):
    prompts = asked(SHOTS + "Who?", SHOTS + "When?")
    for messages, evidence in zip(prompts, chat.sample(prompts, 3, logprobs=True, **SAMPLING), strict=True):
        assert evidence.cost is not None
        assert evidence.cost["model_calls"] == 1 and evidence.cost["sequences"] == 4
        assert evidence.cost["input_tokens"] == chat.get_num_tokens_from_messages(messages)
        assert 0 < evidence.cost["output_tokens"] <= 48
        assert evidence.prompt == messages[0].text


# Prompts that begin alike


def test_prompts_that_begin_alike_compute_their_beginning_once(chat: ChatTransformers):
    prompts = asked(SHOTS + "Who wrote it?", "Nothing alike", SHOTS + "When?", SHOTS + "Who sold it?")
    alone = [chat.sample([messages], 2, states=(1, "mlp"), **SAMPLING)[0] for messages in prompts]
    chat.weights.prefixes.__init__()  # forget
    with tokens_computed(chat) as lengths:
        together = chat.sample(prompts, 2, states=(1, "mlp"), **SAMPLING)
    for one, other in zip(together, alone, strict=True):
        same(one, other)
    whole = [evidence.cost["input_tokens"] for evidence in together if evidence.cost]
    read = [length for length in lengths if length > 6]  # more tokens than there are branches
    assert sum(read) < whole[0] + whole[1] + 30 < sum(whole) / 2


def test_a_beginning_that_comes_again_is_not_computed_again(chat: ChatTransformers):
    def read(text: str) -> tuple[int, Evidence]:
        with tokens_computed(chat) as lengths:
            (evidence,) = chat.sample(asked(text), 2, states=(2, "residual"), **SAMPLING)
        return lengths[0], evidence

    chat.sample(asked("anything"), 1)
    assert read(SHOTS + "Who?")[0] > 90
    assert read(SHOTS + "When?")[0] > 90  # seen, and kept from now on
    length, warm = read(SHOTS + "Where was she?")
    assert length < 20
    chat.weights.prefixes.__init__()
    length, cold = read(SHOTS + "Where was she?")
    assert length == chat.get_num_tokens_from_messages(asked(SHOTS + "Where was she?")[0])
    same(warm, cold)


def test_kept_beginnings_stay_within_their_bound(chat: ChatTransformers):
    bounded = chat.model_copy(update={"prefix_memory": 100_000})
    for start in range(5):
        for end in ("Who?", "When?"):
            bounded.sample(asked(f"{start} {SHOTS}{end}"), 1, **SAMPLING)
    assert 0 < chat.weights.prefixes.size <= 100_000


# Around it


class Listener(BaseCallbackHandler):
    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_chat_model_start(self, _serialized: Any, messages: Any, **kwargs: Any) -> None:
        self.events.append((messages[0][0].content, kwargs["tags"], kwargs["metadata"]["step"]))

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        self.events.append([generation.text for generation in response.generations[0]])

    def on_llm_error(self, error: BaseException, **_: Any) -> None:
        self.events.append(error)


def test_callbacks_hear_of_every_prompt_and_its_answers(chat: ChatTransformers):
    listener, usage = Listener(), UsageMetadataCallbackHandler()
    config = {"callbacks": [listener, usage], "tags": ["seakr"], "metadata": {"step": 1}}
    one, two = chat.sample(asked("Who?", "When?"), 2, config=config, **SAMPLING)
    assert listener.events == [
        ("Who?", ["seakr"], 1), ("When?", ["seakr"], 1), texts(one), texts(two)
    ]  # fmt: skip
    assert one.cost is not None and two.cost is not None
    assert usage.usage_metadata[chat.path]["output_tokens"] == sum(
        cost["output_tokens"] for cost in (one.cost, two.cost)
    )
    listener.events.clear()
    with pytest.raises(ModelError):
        chat.sample(asked("film " * 2000), 2, config=config, **SAMPLING)
    assert isinstance(listener.events[-1], ModelError)


def test_a_system_message_belongs_to_the_prompt(chat: ChatTransformers):
    conversation = [SystemMessage("Be brief."), HumanMessage(QUESTION)]
    (evidence,) = chat.sample([conversation], 0, max_tokens=8)
    assert texts(evidence) == [chat.invoke(conversation, max_tokens=8).content]
    assert evidence.prompt == f"Be brief.\n\n{QUESTION}"


def test_twenty_threads_get_what_one_gets(chat: ChatTransformers):
    def ask(number: int) -> list[str]:
        if number % 4 == 0:
            return [str(chat.invoke(f"{QUESTION} {number}", max_tokens=8).content)]
        settings = SAMPLING | {"seed": number, "max_tokens": 8}
        states = (2, "mlp") if number % 2 else None
        prompts = asked(SHOTS + str(number), f"{QUESTION} {number}")
        return [text for one in chat.sample(prompts, 3, states=states, **settings) for text in texts(one)]

    alone = [ask(number) for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(20))) == alone


def test_a_cancelled_call_stops_soon_and_the_next_one_is_answered(endless_llama: Path):  # noqa: F811
    model = ChatTransformers(path=str(endless_llama))
    expected = texts(model.sample(asked(QUESTION), 2, **SAMPLING)[0])

    async def cancel() -> None:
        loop = asyncio.get_running_loop()
        settings = SAMPLING | {"max_tokens": 20_000}
        task = asyncio.ensure_future(model.asample(asked(QUESTION), 2, states=(1, "mlp"), **settings))
        with tokens_computed(
            model, lambda count: count == 20 and loop.call_soon_threadsafe(task.cancel)
        ) as passes:
            with pytest.raises(asyncio.CancelledError):
                await task
            (evidence,) = await model.asample(asked(QUESTION), 2, **SAMPLING)
            assert texts(evidence) == expected
            assert len(passes) < 1000

    asyncio.run(cancel())


def test_ctrl_c_stops_a_call_and_the_next_one_is_answered(endless_llama: Path):  # noqa: F811
    model = ChatTransformers(path=str(endless_llama))
    expected = texts(model.sample(asked(QUESTION), 2, **SAMPLING)[0])

    def interrupt(count: int) -> None:
        if count == 20:
            _thread.interrupt_main()

    with tokens_computed(model, interrupt) as passes, pytest.raises(KeyboardInterrupt):
        model.sample(asked(QUESTION), 2, **(SAMPLING | {"max_tokens": 20_000}))
    assert len(passes) < 25
    assert texts(model.sample(asked(QUESTION), 2, **SAMPLING)[0]) == expected


# Refusals


def saved(model: PreTrainedModel, folder: Path) -> ChatTransformers:
    tokenizer = tiny_tokenizer()
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return ChatTransformers(path=str(folder))


def refused(kind: type[Exception], model: ChatTransformers, k: int = 2, **settings: Any) -> str:
    with pytest.raises(kind) as caught:
        model.sample(asked(QUESTION), k, **(SAMPLING | settings))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_architecture_without_such_layers_shows_no_states_and_says_so(tmp_path: Path):
    config = GPT2Config(vocab_size=400, n_embd=32, n_layer=2, n_head=2, n_positions=256)
    model = saved(GPT2LMHeadModel(config), tmp_path / "gpt2")
    assert "hidden states of GPT2LMHeadModel cannot be read" in refused(
        CapabilityError, model, states=(1, "residual")
    )


def test_an_architecture_whose_answers_cannot_share_a_cache_still_samples(tmp_path: Path):
    model = saved(
        BloomForCausalLM(BloomConfig(vocab_size=400, hidden_size=32, n_layer=2, n_head=2)), tmp_path / "bloom"
    )
    (evidence,) = model.sample(asked(QUESTION), 3, logprobs=True, **SAMPLING)
    drawn = model.generate(asked(QUESTION), n=3, **SAMPLING).generations[0]
    assert [answer.text for answer in evidence.samples] == [generation.text for generation in drawn]
    assert texts(evidence)[0] == model.invoke(QUESTION, max_tokens=12).content


def test_a_model_whose_branches_see_each_other_is_found_out(
    chat: ChatTransformers, monkeypatch: pytest.MonkeyPatch
):
    model = chat.weights.model
    plain = model.forward

    def deaf(attention_mask: Any = None, **given: Any) -> Any:
        return plain(**given)

    deaf.__signature__ = __import__("inspect").signature(plain)
    monkeypatch.setattr(model, "forward", deaf)
    assert "would see each other" in refused(CapabilityError, chat, states=(1, "mlp"))
    (evidence,) = chat.sample(asked(QUESTION), 2, **SAMPLING)
    drawn = chat.generate(asked(QUESTION), n=2, **SAMPLING).generations[0]
    assert [answer.text for answer in evidence.samples] == [generation.text for generation in drawn]


def test_a_tokenizer_without_an_end_token_shows_no_states(tmp_path: Path):
    folder = save_tiny_model(tmp_path / "endless")
    tokenizer = tiny_tokenizer()
    tokenizer.eos_token = None
    tokenizer.save_pretrained(folder)
    model = ChatTransformers(path=str(folder))
    assert "no end-of-sequence token" in refused(CapabilityError, model, states=(1, "mlp"))


def test_what_is_out_of_range_is_refused_in_one_line(chat: ChatTransformers):
    assert "layers 1 to 2; there is no layer 3" in refused(SettingsError, chat, states=(3, "mlp"))
    assert "site residual or mlp, not 'attention'" in refused(SettingsError, chat, states=(1, "attention"))
    assert "nothing to ask for" in refused(SettingsError, chat, 0, greedy=False)
    assert "nothing to ask for" in refused(SettingsError, chat, -1)
    assert "read behind samples" in refused(SettingsError, chat, 0, states=(1, "mlp"))
    assert "temperature" in refused(SettingsError, chat, temperature=0.0)
    small = chat.model_copy(update={"memory_limit": 10_000})
    assert "memory_limit is 0.0 MiB" in refused(SettingsError, small)


def test_a_prompt_that_leaves_no_room_is_refused_and_one_place_is_kept_for_the_state(tmp_path: Path):
    model = ChatTransformers(path=str(save_tiny_model(tmp_path / "short", context=64, endless=True)))
    text = "film " * 1000
    assert "the model's context only 64" in refused_prompt(model, text)
    tokens = model.get_num_tokens_from_messages(asked(QUESTION)[0])
    lengths = [
        evidence.cost["output_tokens"]
        for states in (None, (1, "residual"))
        for evidence in model.sample(asked(QUESTION), 1, greedy=False, states=states, max_tokens=1000)
        if evidence.cost
    ]
    assert lengths == [64 - tokens, 63 - tokens]


def refused_prompt(model: ChatTransformers, text: str) -> str:
    with pytest.raises(ModelError) as caught:
        model.sample(asked(text), 2, **SAMPLING)
    return str(caught.value)


def test_numbers_that_overflow_are_reported_not_answered(chat: ChatTransformers):
    path = Path(chat.path) / "model.safetensors"
    tensors = load_file(path)
    tensors["model.norm.weight"].fill_(float("inf"))
    save_file(tensors, path, metadata={"format": "pt"})
    assert "overflowed" in refused(ModelError, chat, states=(1, "mlp"))
