"""The same graph over HTTP: Self-DC through langchain-openai against a real server of a real, tiny model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from openai_server import Server, serve
from self_dc_script import Shelf, notes, routes
from tiny_models import save_tiny_model

from knowwhen.graphs import Method, self_dc
from knowwhen.models.errors import CapabilityError, ModelError
from knowwhen.models.transformers_chat import ChatTransformers

QUESTION: Any = {"question": "Which of the two films has the older director?"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ChatTransformers:
    """A random model whose window holds Self-DC's prompts."""
    folder: Path = save_tiny_model(tmp_path_factory.mktemp("tiny") / "wide", context=4096)
    return ChatTransformers(path=str(folder))


@pytest.fixture
def server(tiny: ChatTransformers) -> Iterator[Server]:
    with serve(tiny) as running:
        yield running


def over_http(server: Server, **settings: Any) -> Method:
    model = ChatOpenAI(
        base_url=server.base_url, api_key="x", model="tiny", max_retries=0, use_responses_api=False
    )
    return self_dc(model, Shelf(), **{"max_tokens": 8, "confidence": "probability", **settings})


@pytest.mark.parametrize(
    ("band", "route", "calls"),
    [((0.0, 0.0), "generate", 3), ((1.0, 0.0), "retrieve", 2), ((0.5, 0.5), "retrieve", 3)],
    ids=["known", "unknown", "half known, and this model can divide nothing"],
)
def test_the_graph_runs_to_an_answer_with_the_servers_log_probabilities(
    server: Server, band: tuple[float, float], route: str, calls: int
) -> None:
    output = over_http(server, alpha=band[0], beta=band[1]).invoke(QUESTION)
    assert json.loads(json.dumps(output)) == output
    assert 0 < output["confidence"] < 1
    assert routes(output) == {"1": route}
    assert output["steps"][0]["estimator"] == "probability"
    assert output["answer"]
    assert output["cost"]["model_calls"] == len(server.requests) == calls
    assert output["cost"]["input_tokens"] > 0
    assert 0 < output["cost"]["output_tokens"] <= 8 * calls
    asked = [request.body for request in server.requests]
    assert [body.get("logprobs", False) for body in asked] == [True] + [False] * (calls - 1)
    assert {(body["temperature"], body["top_p"]) for body in asked} == {(0.1, 0.1)}
    assert (band == (0.5, 0.5)) == (notes(output) != {})


def test_the_model_behind_the_server_and_the_model_itself_answer_alike(
    server: Server, tiny: ChatTransformers
) -> None:
    greedy: dict[str, Any] = {"alpha": 0.0, "beta": 0.0, "temperature": 0, "top_p": 1}
    served = over_http(server, **greedy).invoke(QUESTION)
    local = self_dc(tiny, Shelf(), max_tokens=8, confidence="probability", **greedy).invoke(QUESTION)
    assert served["confidence"] == pytest.approx(local["confidence"], abs=1e-5)
    assert served["steps"][0]["answer"] == local["steps"][0]["answer"]
    assert served["cost"] == local["cost"]


def test_a_server_without_log_probabilities_is_refused_with_what_would_send_them(server: Server) -> None:
    server.faults.without_logprobs = True
    with pytest.raises(CapabilityError) as refused:
        over_http(server).invoke(QUESTION)
    said = str(refused.value)
    assert said.startswith(
        "self_dc's confidence='probability' needs log-probabilities, and the server of ChatOpenAI"
    )
    assert "use_responses_api=False" in said
    assert "vLLM" in said
    assert "confidence='verbalised'" in said
    assert "\n" not in said


def test_a_server_without_log_probabilities_can_be_asked_to_state_its_confidence(server: Server) -> None:
    server.faults.without_logprobs = True
    output = over_http(server, confidence="verbalised").invoke(QUESTION)
    assert output["steps"][0]["estimator"] == "verbalised"
    assert all(not request.body.get("logprobs") for request in server.requests)


def test_a_server_that_fails_for_a_moment_is_asked_again(server: Server) -> None:
    server.faults.statuses = [503, 429]
    server.faults.retry_after = "0.05"
    output = over_http(server, alpha=1.0, beta=0.0).invoke(QUESTION)
    assert output["answer"]
    assert output["cost"]["model_calls"] == 2
    assert [request.status for request in server.requests] == [503, 429, 200, 200]


def test_a_server_that_refuses_is_one_line_and_asked_once(server: Server) -> None:
    server.faults.statuses = [401]
    with pytest.raises(ModelError, match="401") as failed:
        over_http(server).invoke(QUESTION)
    assert "\n" not in str(failed.value)
    assert len(server.requests) == 1
