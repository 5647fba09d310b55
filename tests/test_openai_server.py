import time
from pathlib import Path

import httpx
import openai
import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from openai_server import Server, serve
from tiny_models import tiny_llama  # noqa: F401

from knowwhen.models.transformers_chat import ChatTransformers

PROMPT = "Which of the two films has the older director?"


@pytest.fixture
def local(tiny_llama: Path) -> ChatTransformers:  # noqa: F811
    return ChatTransformers(path=str(tiny_llama), max_tokens=12)


def client(server: Server, **settings: object) -> ChatOpenAI:
    defaults = {"max_retries": 0, "max_tokens": 12, "temperature": 0, "use_responses_api": False}
    return ChatOpenAI(base_url=server.base_url, api_key="x", model="tiny", **(defaults | settings))


def logprobs_of(message: object) -> list[float]:
    return [entry["logprob"] for entry in message.response_metadata["logprobs"]["content"]]


def test_the_server_gives_the_texts_and_log_probabilities_of_the_model_behind_it(local: ChatTransformers):
    with serve(local) as server:
        far = client(server, logprobs=True, top_logprobs=3).invoke(PROMPT)
    near = local.invoke(PROMPT, logprobs=True, top_logprobs=3)
    assert far.content == near.content and far.content
    assert logprobs_of(far) == pytest.approx(logprobs_of(near), abs=1e-4)
    far_tokens, near_tokens = (m.response_metadata["logprobs"]["content"] for m in (far, near))
    assert [t["token"] for t in far_tokens] == [t["token"] for t in near_tokens]
    assert [t["bytes"] for t in far_tokens] == [t["bytes"] for t in near_tokens]
    for far_token, near_token in zip(far_tokens, near_tokens, strict=True):
        far_top, near_top = far_token["top_logprobs"], near_token["top_logprobs"]
        assert [t["token"] for t in far_top] == [t["token"] for t in near_top]
    counts = ("input_tokens", "output_tokens", "total_tokens")
    assert [far.usage_metadata[name] for name in counts] == [near.usage_metadata[name] for name in counts]
    assert far.response_metadata["finish_reason"] == near.response_metadata["finish_reason"]


def test_several_seeded_samples_come_through_in_one_request(local: ChatTransformers):
    with serve(local) as server:
        model = client(server, n=4, temperature=1.0, seed=5, logprobs=True)
        far = model.generate([[HumanMessage(PROMPT)]]).generations[0]
        assert len(server.requests) == 1
    near = local.generate([[HumanMessage(PROMPT)]], n=4, temperature=1.0, seed=5, logprobs=True).generations[
        0
    ]
    assert [g.text for g in far] == [g.text for g in near]
    for far_sample, near_sample in zip(far, near, strict=True):
        assert logprobs_of(far_sample.message) == pytest.approx(logprobs_of(near_sample.message), abs=1e-4)
        assert (
            far_sample.message.usage_metadata["output_tokens"]
            == near[0].message.usage_metadata["output_tokens"]
        )


def test_a_stream_carries_the_same_text_log_probabilities_and_usage(local: ChatTransformers):
    with serve(local) as server:
        chunks = list(client(server, logprobs=True, stream_usage=True).stream(PROMPT))
    near = local.invoke(PROMPT, logprobs=True)
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert len([chunk for chunk in chunks if chunk.content]) > 2
    assert whole.content == near.content
    assert logprobs_of(whole) == pytest.approx(logprobs_of(near), abs=1e-4)
    assert whole.usage_metadata["output_tokens"] == near.usage_metadata["output_tokens"]


def test_a_stop_string_in_the_request_cuts_the_answer(local: ChatTransformers):
    text = local.invoke(PROMPT).content
    stop = text[4:6]
    with serve(local) as server:
        cut = client(server).invoke(PROMPT, stop=[stop])
    assert cut.content == text[: text.index(stop)]
    assert cut.response_metadata["finish_reason"] == "stop"


def test_the_model_list_and_the_log_of_requests(local: ChatTransformers):
    with serve(local) as server:
        assert httpx.get(f"{server.base_url}/models").json()["data"][0]["id"] == "tiny"
        client(server).invoke(PROMPT)
        (received,) = server.requests
    assert received.body["messages"] == [{"content": PROMPT, "role": "user"}]
    assert received.status == 200 and received.came <= received.answered


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
    ],
)
def test_an_ordered_status_is_answered_as_often_as_ordered(
    local: ChatTransformers, status: int, error: type[openai.APIStatusError]
):
    with serve(local, statuses=[status] * 2, retry_after="3") as server:
        for _ in range(2):
            with pytest.raises(error) as caught:
                client(server).invoke(PROMPT)
            assert caught.value.response.headers["retry-after"] == "3"
        assert client(server).invoke(PROMPT).content
        assert [request.status for request in server.requests] == [status, status, 200]


def test_a_dropped_connection_and_a_hanging_server_reach_the_client(local: ChatTransformers):
    with serve(local, drops=1) as server:
        with pytest.raises(openai.APIConnectionError):
            client(server).invoke(PROMPT)
        assert client(server).invoke(PROMPT).content
        server.faults.hang = 30
        before = time.monotonic()
        with pytest.raises(openai.APITimeoutError):
            client(server, timeout=1).invoke(PROMPT)
    assert time.monotonic() - before < server.faults.hang / 2


def test_log_probabilities_usage_and_samples_can_be_left_out(local: ChatTransformers):
    with serve(local, without_logprobs=True, without_usage=True, one_sample=True) as server:
        model = client(server, logprobs=True, n=3, temperature=1.0)
        (only,) = model.generate([[HumanMessage(PROMPT)]]).generations[0]
    assert not only.message.response_metadata.get("logprobs")
    assert only.message.usage_metadata is None


def test_a_prompt_longer_than_the_context_is_refused_with_status_400(local: ChatTransformers):
    with serve(local) as server, pytest.raises(openai.BadRequestError, match="only 512"):
        client(server).invoke("film " * 600)
