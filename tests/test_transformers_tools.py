"""Tools with local models: shown by the chat template, refused without one, forced, streamed."""

import asyncio
import json
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field
from tiny_models import save_tiny_model, tiny_llama, tiny_llama_without_template, tiny_tokenizer  # noqa: F401

from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.prompt_tokens import prompt_tokens
from knowwhen.models.tool_messages import template_turns
from knowwhen.models.tool_offer import Offer, checked_choice
from knowwhen.models.transformers_chat import ChatTransformers

# Qwen's template in short: tools as JSON, calls in Hermes' form, results in a user's turn.
HERMES = (
    "{% if tools %}<system>{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}{% endif %}"
    "{% for m in messages %}{% if m.role == 'tool' %}<user><tool_response>{{ m.content }}</tool_response>\n"
    "{% else %}<{{ m.role }}>{{ m.content }}{% for call in m.tool_calls or [] %}"
    '<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n'
    "</tool_call>{% endfor %}\n{% endif %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


@tool
def search(query: str) -> str:
    """Finds passages."""
    return query


class Ask(BaseModel):
    """Asks a question."""

    question: str = Field(description="in full")


@pytest.fixture
def hermes(tmp_path: Path) -> ChatTransformers:
    folder = save_tiny_model(tmp_path / "hermes", context=1024)
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = HERMES
    tokenizer.save_pretrained(folder)
    return ChatTransformers(path=str(folder), max_tokens=8)


def prompt_of(model: ChatTransformers, messages: list, offer: Offer) -> str:
    return model.weights.tokenizer.decode(prompt_tokens(model.weights.tokenizer, messages, offer))


def test_the_template_shows_tools_calls_and_results(hermes: ChatTransformers) -> None:
    bound = hermes.bind_tools([search, Ask])
    offer = Offer(bound.kwargs["tools"])
    call = {"name": "search", "args": {"query": "Velo Harn"}, "id": "1"}
    talk = [HumanMessage("Find it."), AIMessage("", tool_calls=[call]), ToolMessage("[1]", tool_call_id="1")]
    shown = prompt_of(hermes, talk, offer)
    assert offer.names == ["search", "Ask"]
    assert '"description": "Finds passages."' in shown and '"Asks a question."' in shown
    assert '<tool_call>\n{"name": "search", "arguments": {"query": "Velo Harn"}}\n</tool_call>' in shown
    assert shown.endswith("<user><tool_response>[1]</tool_response>\n<assistant>")
    used = bound.invoke(talk).usage_metadata
    assert used is not None and used["input_tokens"] == hermes.get_num_tokens_from_messages(
        talk, [search, Ask]
    )


def test_a_failed_result_says_that_it_is_one() -> None:
    def content(text: str, **fields: object) -> str:
        (turn,) = template_turns([ToolMessage(text, tool_call_id="1", **fields)])
        return turn["content"]

    assert content("no network", status="error") == "Error: no network"
    assert content("Error: no network", status="error") == "Error: no network"
    assert content("no network") == "no network"


@pytest.mark.parametrize("model", ["tiny_llama", "tiny_llama_without_template"])
def test_a_template_that_shows_no_tools_is_refused_when_they_are_bound(
    model: str, request: pytest.FixtureRequest
) -> None:
    chat = ChatTransformers(path=str(request.getfixturevalue(model)))
    with pytest.raises(
        CapabilityError, match="cannot be given tools: its chat template shows none; use"
    ) as caught:
        chat.bind_tools([search])
    assert "\n" not in str(caught.value)


def test_binding_no_tools_is_the_model_itself(tiny_llama: Path) -> None:  # noqa: F811
    chat = ChatTransformers(path=str(tiny_llama), max_tokens=4)
    assert chat.bind_tools([]).invoke("x").content == chat.invoke("x").content


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (None, None),
        ("auto", None),
        ("none", "none"),
        ("any", "any"),
        ("required", "any"),
        (True, "any"),
        ("Ask", "Ask"),
        ({"type": "function", "function": {"name": "Ask"}}, "Ask"),
        ({"type": "tool", "name": "Ask"}, "Ask"),
        ({"type": "any"}, "any"),
        ({"type": "auto"}, None),
    ],
)
def test_a_choice_may_be_written_as_langchain_and_openai_do(given: object, taken: str | None) -> None:
    assert checked_choice(given, ["search", "Ask"]) == taken


def test_an_unknown_choice_names_the_known_ones(hermes: ChatTransformers) -> None:
    with pytest.raises(
        SettingsError, match="tool_choice='serch' is unknown; choose from auto, none, any, search"
    ):
        hermes.bind_tools([search], tool_choice="serch")


def test_a_choice_that_is_bound_by_hand_is_read_alike(hermes: ChatTransformers) -> None:
    schemas = hermes.bind_tools([search]).kwargs["tools"]
    (fault,) = hermes.bind(tools=schemas, tool_choice="required").invoke("x").invalid_tool_calls
    assert '"search"' in str(fault["args"])


def test_a_setting_that_there_is_not_is_told_when_it_is_bound(hermes: ChatTransformers) -> None:
    with pytest.raises(SettingsError, match="strict: unknown; a call takes temperature"):
        hermes.bind_tools([search], strict=True)


def test_a_cut_off_reply_says_so_beside_its_calls(hermes: ChatTransformers) -> None:
    reply = hermes.bind_tools([search], tool_choice="any").invoke("x")  # random, to the bound of 8 tokens
    assert reply.invalid_tool_calls and reply.response_metadata["finish_reason"] == "length"


def test_a_forced_call_begins_as_the_template_writes_calls(hermes: ChatTransformers) -> None:
    schemas = hermes.bind_tools([search, Ask]).kwargs["tools"]
    tokenizer, asked = hermes.weights.tokenizer, [HumanMessage("x")]
    assert Offer(schemas).begun(tokenizer, asked).beginning == ""
    assert Offer(schemas, "any").begun(tokenizer, asked).beginning == '<tool_call>\n{"name": "'
    one = Offer(schemas, "Ask").begun(tokenizer, asked)
    assert one.beginning == '<tool_call>\n{"name": "Ask", "arguments": {"'
    assert prompt_of(hermes, asked, one).endswith(one.beginning)
    # What follows is random here, so the call is malformed, and said to be.
    reply = hermes.bind_tools([search, Ask], tool_choice="Ask").invoke("x")
    assert reply.content == "" and len(reply.invalid_tool_calls) == 1


def test_with_the_choice_none_no_tool_is_shown(hermes: ChatTransformers) -> None:
    plain = hermes.invoke("x")
    assert hermes.bind_tools([search], tool_choice="none").invoke("x").usage_metadata == plain.usage_metadata


def saying(text: str, folder: Path, special: tuple[str, ...] = ()) -> ChatTransformers:
    """A model that answers anything with this text: real weights, made to say it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = HERMES
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    ids = [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    # Without layers that do anything, the next token depends on the last one alone.
    assert len(set(ids)) == len(ids), "each token must say what comes next"
    size = len(tokenizer)
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=size,
        intermediate_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=4,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(torch.eye(size))
        model.model.layers[0].self_attn.o_proj.weight.zero_()
        model.model.layers[0].mlp.down_proj.weight.zero_()
        model.lm_head.weight.zero_()
        last = tokenizer("<assistant>", add_special_tokens=False)["input_ids"][-1]
        assert last not in ids
        for before, after in zip([last, *ids], ids, strict=False):
            model.lm_head.weight[after, before] = 1.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return ChatTransformers(path=str(folder), max_tokens=len(ids))


def streamed(model: object, how: str) -> list[AIMessageChunk]:
    if how == "stream":
        return list(model.stream("x"))  # type: ignore[attr-defined]

    async def collected() -> list[AIMessageChunk]:
        return [chunk async for chunk in model.astream("x")]  # type: ignore[attr-defined]

    return asyncio.run(collected())


@pytest.mark.parametrize("how", ["stream", "astream"])
def test_a_special_token_marks_a_call_only_while_tools_are_bound(tmp_path: Path, how: str) -> None:
    text = "So [TOOL_CALLS]h[ARGS]{}"
    model = saying(text, tmp_path, ("[TOOL_CALLS]", "[ARGS]"))
    assert model.invoke("x").content == "So h{}"
    bound = model.bind_tools([search])
    message = bound.invoke("x")
    assert message.content == "So"
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [("h", {})]
    assert message.response_metadata["finish_reason"] == "tool_calls"
    chunks = streamed(bound, how)
    assert "".join(str(chunk.content) for chunk in chunks) == "So"
    assert [chunk.chunk_position for chunk in chunks][-1] == "last"
    (pieces,) = [chunk.tool_call_chunks for chunk in chunks if chunk.tool_call_chunks]
    assert [(piece["name"], json.loads(piece["args"] or "")) for piece in pieces] == [("h", {})]


def test_a_malformed_call_stays_malformed_in_a_stream(tmp_path: Path) -> None:
    model = saying("[TOOL_CALLS]h[ARGS]{", tmp_path, ("[TOOL_CALLS]", "[ARGS]")).bind_tools([search])
    assert len(model.invoke("x").invalid_tool_calls) == 1
    whole = None
    for chunk in model.stream("x"):
        whole = chunk if whole is None else whole + chunk
    assert whole is not None and whole.tool_calls == [] and len(whole.invalid_tool_calls) == 1


def test_logprobs_of_a_stream_with_a_call_are_whole(tmp_path: Path) -> None:
    model = saying("So [TOOL_CALLS]h[ARGS]{}", tmp_path, ("[TOOL_CALLS]", "[ARGS]"))
    bound = model.bind_tools([search], logprobs=True)
    whole = bound.invoke("x").response_metadata["logprobs"]["content"]
    parts = [chunk.response_metadata.get("logprobs", {}).get("content", []) for chunk in bound.stream("x")]
    assert [entry["token"] for part in parts for entry in part] == [entry["token"] for entry in whole]
