"""Sampling parameters reach each family of models under the names that its server knows."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from scripted import ScriptedChat

from knowwhen.models import Door
from knowwhen.models.errors import CapabilityError, ModelError
from knowwhen.models.sampling import Sampling, prepared

EVERYTHING: dict[str, Any] = {
    "temperature": 0.7,
    "top_p": 0.9,
    "top_k": 20,
    "max_tokens": 12,
    "seed": 3,
    "stop": ["\n", "Question:"],
}
ANTHROPIC_ANSWER = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "Paris"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 5, "output_tokens": 1},
}
OLLAMA_ANSWER = {
    "model": "llama",
    "created_at": "2025-01-01T00:00:00Z",
    "message": {"role": "assistant", "content": "Paris"},
    "logprobs": [
        {"token": "Paris", "logprob": -0.25, "top_logprobs": [{"token": "Paris", "logprob": -0.25}]}
    ],
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 5,
    "eval_count": 1,
}


class Recorder(ThreadingHTTPServer):
    """Answers every POST with one JSON object, and keeps what was posted."""

    def __init__(self, status: int, answer: dict[str, Any]) -> None:
        posted: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                body = json.dumps(answer).encode() + b"\n"
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Keep the test's output clean."""

        super().__init__(("127.0.0.1", 0), Handler)
        self.posted = posted
        self.url = f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def serve() -> Iterator[Any]:
    servers: list[Recorder] = []

    def start(answer: dict[str, Any], status: int = 200) -> Recorder:
        servers.append(Recorder(status, answer))
        threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def claude(server: Recorder, **fields: Any) -> ChatAnthropic:
    named = {"model": "claude-of-tests", "api_key": "k", "base_url": server.url, "max_retries": 0, **fields}
    return ChatAnthropic(**named)


def test_ollama_is_told_in_its_options(serve: Any) -> None:
    server = serve(OLLAMA_ANSWER)
    reply = Door(ChatOllama(model="llama", base_url=server.url, stop=["own"])).ask("Where?", **EVERYTHING)
    assert reply.text == "Paris"
    assert reply.cost["input_tokens"] == 5
    assert server.posted[0]["options"] == {
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 20,
        "num_predict": 12,
        "seed": 3,
        "stop": ["\n", "Question:"],
    }


def test_ollamas_log_probabilities_are_read(serve: Any) -> None:
    server = serve(OLLAMA_ANSWER)
    reply = Door(ChatOllama(model="llama", base_url=server.url)).ask("Where?", logprobs=True, top_logprobs=1)
    assert reply.token_logprobs is not None
    assert [(token.token, token.logprob, token.top) for token in reply.token_logprobs[0]] == [
        ("Paris", -0.25, (("Paris", -0.25),))
    ]
    assert server.posted[0]["logprobs"] is True
    assert server.posted[0]["top_logprobs"] == 1


def test_anthropic_is_sent_temperature_alone(serve: Any) -> None:
    server = serve(ANTHROPIC_ANSWER)
    reply = Door(claude(server)).ask("Where?", **EVERYTHING)
    assert reply.text == "Paris"
    assert (reply.cost["input_tokens"], reply.cost["output_tokens"]) == (5, 1)
    sent = server.posted[0]
    assert (sent["temperature"], sent["top_k"], sent["max_tokens"]) == (0.7, 20, 12)
    assert sent["stop_sequences"] == ["\n", "Question:"]
    assert "top_p" not in sent
    assert "seed" not in sent


def test_anthropic_is_sent_top_p_when_no_temperature_is_asked_for(serve: Any) -> None:
    server = serve(ANTHROPIC_ANSWER)
    Door(claude(server)).ask("Where?", top_p=0.9)
    assert server.posted[0]["top_p"] == 0.9
    assert "temperature" not in server.posted[0]


def test_a_model_whose_profile_takes_no_temperature_is_sent_none(serve: Any) -> None:
    server = serve(ANTHROPIC_ANSWER)
    Door(claude(server, profile={"temperature": False})).ask("Where?", **EVERYTHING)
    assert not {"temperature", "top_p", "top_k"} & set(server.posted[0])
    assert server.posted[0]["max_tokens"] == 12


def test_anthropic_has_no_samples_to_give(serve: Any) -> None:
    server = serve(ANTHROPIC_ANSWER)
    with pytest.raises(CapabilityError, match="ChatAnthropic"):
        Door(claude(server)).ask("Where?", n=3)
    assert server.posted == []


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_of_ollama_or_anthropic_is_asked_once_and_is_one_line(serve: Any, status: int) -> None:
    server = serve({"error": "no such thing"}, status)
    for model in (claude(server), ChatOllama(model="llama", base_url=server.url)):
        with pytest.raises(ModelError, match=rf"answered {status} \(no such thing[^\n]*\); [^\n]+$"):
            Door(model).ask("Where?")
    assert len(server.posted) == 2


@pytest.mark.parametrize(("status", "attempts"), [(503, 2), (529, 2)])
def test_a_busy_ollama_or_anthropic_is_asked_again(serve: Any, status: int, attempts: int) -> None:
    server = serve({"error": "busy"}, status)
    for model in (claude(server), ChatOllama(model="llama", base_url=server.url)):
        with pytest.raises(ModelError, match=f"answered {status} {attempts} times"):
            Door(model, max_attempts=attempts).ask("Where?")
    assert len(server.posted) == 2 * attempts


def test_the_users_model_is_left_as_it_was() -> None:
    model = ChatOpenAI(model="m", api_key="k", temperature=1.0, streaming=True)  # type: ignore[arg-type]
    told, keywords = prepared(model, Sampling(n=4, temperature=0.2), stop=True)
    assert (model.temperature, model.n, model.streaming, model.disable_streaming) == (1.0, None, True, False)
    assert isinstance(told, ChatOpenAI)
    assert (told.temperature, told.n, told.streaming, told.disable_streaming) == (0.2, 4, False, True)
    assert told.client is model.client
    assert keywords == {}


def test_a_model_of_ours_takes_keywords() -> None:
    model = ScriptedChat(["a"])
    told, keywords = prepared(model, Sampling(temperature=0.2, top_k=5), stop=False)
    assert told is model
    assert keywords == {"temperature": 0.2, "top_k": 5}
