"""The door against a real OpenAI-compatible server that misbehaves in every usual way."""

import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from langgraph.graph import START, StateGraph
from openai_server import Server, serve
from processes import started
from scripted import ScriptedChat
from tiny_models import save_tiny_model
from typing_extensions import TypedDict

from knowwhen.models import NO_COST, ChatTransformers, Cost, Door, resolve_model
from knowwhen.models.errors import CapabilityError, ModelError

ONE_CALL = {**NO_COST, "model_calls": 1, "sequences": 1}


def yes(prompt: str) -> tuple[str, float]:
    return "yes it is", 0.5


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the model that a user of `server` gets from a string and the environment."""

    def make(server: Server) -> BaseChatModel:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
        return resolve_model("openai:tiny")

    return make


def pauses(server: Server) -> list[float]:
    """Seconds between one answer and the next request."""
    pairs = zip(server.requests, server.requests[1:], strict=False)
    return [later.came - (earlier.answered or earlier.came) for earlier, later in pairs]


def test_a_model_named_by_a_string_answers_from_the_server_in_the_environment(ours: Any) -> None:
    with serve(ScriptedChat(yes)) as server:
        reply = Door(ours(server)).ask("is it so")
    assert reply.text == "yes it is"
    assert reply.cost == {**ONE_CALL, "input_tokens": 3, "output_tokens": 3}


def test_sampling_parameters_arrive_as_asked(ours: Any) -> None:
    with serve(ScriptedChat(yes)) as server:
        asked = {"temperature": 0.7, "top_p": 0.9, "seed": 5, "logprobs": True, "top_logprobs": 2}
        Door(ours(server)).ask("is it so", n=3, max_tokens=20, stop=["\n", "Q:"], **asked)
        Door(ours(server)).ask("is it so")
    first, second = (request.body for request in server.requests)
    arrived = {"n": 3, "max_completion_tokens": 20, "stop": ["\n", "Q:"], **asked}
    assert {name: first[name] for name in arrived} == arrived
    assert not set(arrived) & set(second)


def test_five_samples_are_one_request_and_their_usage_is_not_summed(ours: Any) -> None:
    with serve(ScriptedChat([["a", "b", "c d", "e", "f"]])) as server:
        reply = Door(ours(server)).ask("is it so", n=5, temperature=1.0)
    assert reply.texts == ("a", "b", "c d", "e", "f")
    assert reply.cost == {**ONE_CALL, "sequences": 5, "input_tokens": 3, "output_tokens": 6}
    assert len(server.requests) == 1


def test_each_sample_keeps_its_own_log_probabilities(ours: Any) -> None:
    with serve(ScriptedChat([[("sure", 0.5), ("not so", 0.25)]])) as server:
        reply = Door(ours(server)).ask("is it so", n=2, temperature=1.0, logprobs=True)
    assert reply.token_logprobs is not None
    assert [[token.token for token in tokens] for tokens in reply.token_logprobs] == [["sure"], ["not", "so"]]
    assert [tokens[0].logprob for tokens in reply.token_logprobs] == pytest.approx(
        [-0.6931, -1.3863], abs=1e-3
    )


def test_a_local_model_says_the_same_behind_a_server_and_without_one(ours: Any, tmp_path: Path) -> None:
    local = ChatTransformers(path=str(save_tiny_model(tmp_path / "tiny")))
    asked: dict[str, Any] = {"n": 2, "temperature": 1.0, "seed": 7, "max_tokens": 8, "logprobs": True}
    near = Door(local).ask("Which film?", **asked)
    with serve(local) as server:
        far = Door(ours(server)).ask("Which film?", **asked)
    assert far.texts == near.texts
    assert far.cost == near.cost
    assert near.token_logprobs
    assert far.token_logprobs == near.token_logprobs


def test_missing_log_probabilities_name_a_server_that_has_them(ours: Any) -> None:
    with (
        serve(ScriptedChat(yes), without_logprobs=True) as server,
        pytest.raises(CapabilityError, match=r"ChatOpenAI \(tiny\) sent none; use .*vLLM") as refused,
    ):
        Door(ours(server), asked_by="self_dc's confidence='probability'").ask("is it so", logprobs=True)
    assert str(refused.value).startswith("self_dc's confidence='probability' needs log-probabilities")
    assert len(server.requests) == 1


def test_a_server_that_ignores_n_is_refused(ours: Any) -> None:
    with (
        serve(ScriptedChat(yes), one_sample=True) as server,
        pytest.raises(CapabilityError, match=r"needs 5 samples in one request, .* sent 1; use"),
    ):
        Door(ours(server)).ask("is it so", n=5, temperature=1.0)
    assert len(server.requests) == 1


def test_a_server_without_usage_counts_no_tokens_and_says_so_once(ours: Any) -> None:
    with serve(ScriptedChat(yes), without_usage=True) as server:
        door = Door(ours(server))
        with pytest.warns(UserWarning, match="reports no token usage"):
            assert door.ask("is it so").cost == ONE_CALL
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            door.ask("is it so")


def test_retry_after_in_seconds_is_waited_for(ours: Any) -> None:
    with serve(ScriptedChat(yes), statuses=[429], retry_after="1") as server:
        assert Door(ours(server)).ask("is it so").cost["model_calls"] == 1
    assert [request.status for request in server.requests] == [429, 200]
    assert pauses(server)[0] >= 1


def test_retry_after_as_a_date_is_waited_for(ours: Any) -> None:
    when = int(time.time()) + 2
    with serve(ScriptedChat(yes), statuses=[503], retry_after=formatdate(when, usegmt=True)) as server:
        Door(ours(server)).ask("is it so")
        assert time.time() >= when
    assert [request.status for request in server.requests] == [503, 200]


def test_a_server_that_asks_for_an_hour_is_given_up_at_once(ours: Any) -> None:
    with (
        serve(ScriptedChat(yes), statuses=[429], retry_after="3600") as server,
        pytest.raises(ModelError, match="asks to wait 3600 seconds"),
    ):
        Door(ours(server)).ask("is it so")
    assert len(server.requests) == 1


def test_pauses_grow_when_the_server_names_none(ours: Any) -> None:
    with serve(ScriptedChat(yes), statuses=[500, 502, 500]) as server:
        Door(ours(server)).ask("is it so")
    first, second, third = pauses(server)
    assert first >= 0.25
    assert second >= 0.5
    assert third >= 1


def test_a_dropped_connection_is_tried_again(ours: Any) -> None:
    with serve(ScriptedChat(yes), drops=1) as server:
        reply = Door(ours(server)).ask("is it so")
    assert reply.text == "yes it is"
    assert len(server.requests) == 2


def test_a_server_that_hangs_is_given_up_after_the_timeout(ours: Any) -> None:
    with serve(ScriptedChat(yes), hang=30) as server:
        slow = ChatOpenAI(base_url=server.base_url, api_key="x", model="tiny", timeout=1, max_retries=0)
        with pytest.raises(
            ModelError, match=r"^ChatOpenAI \(tiny\) did not answer in time 2 times .*longer timeout$"
        ):
            Door(slow, max_attempts=2).ask("is it so")
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refused_request_is_sent_exactly_once(ours: Any, status: int) -> None:
    with (
        serve(ScriptedChat(yes), statuses=[status] * 5) as server,
        pytest.raises(
            ModelError, match=rf"^ChatOpenAI \(tiny\) answered {status} \(status {status} was"
        ) as refused,
    ):
        Door(ours(server)).ask("is it so")
    assert len(server.requests) == 1
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_lasting_failure_is_given_up_after_the_attempts_allowed(ours: Any) -> None:
    with (
        serve(ScriptedChat(yes), statuses=[500] * 9) as server,
        pytest.raises(ModelError, match="answered 500 3 times"),
    ):
        Door(ours(server), max_attempts=3).ask("is it so")
    assert len(server.requests) == 3


def test_a_server_that_is_not_there_is_named(ours: Any) -> None:
    with serve(ScriptedChat(yes)) as server:
        pass
    with pytest.raises(ModelError, match=r"could not be reached 2 times .* server runs$"):
        Door(ours(server), max_attempts=2).ask("is it so")


def test_the_bound_holds_on_the_wire_and_is_reached_while_requests_fail_and_return(ours: Any) -> None:
    with serve(ScriptedChat(yes, delay=0.1), statuses=[429, 500, 503] * 3, retry_after="0") as server:
        door = Door(ours(server), max_concurrency=4)
        with ThreadPoolExecutor(50) as askers:
            replies = list(askers.map(door.ask, ["is it so"] * 50))
    assert all(reply.cost == {**ONE_CALL, "input_tokens": 3, "output_tokens": 3} for reply in replies)
    assert len(server.requests) == 59
    assert server.most_at_once() == 4


class State(TypedDict, total=False):
    question: str
    texts: tuple[str, ...]
    cost: Cost


@pytest.mark.parametrize("asked", [{}, {"n": 3, "temperature": 1.0}, {"logprobs": True}])
def test_a_graph_that_streams_messages_gets_the_same_reply_and_cost(ours: Any, asked: dict[str, Any]) -> None:
    def ask(state: State) -> State:
        reply = door.ask(state["question"], **asked)
        return {"texts": reply.texts, "cost": reply.cost}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    graph = builder.compile()
    with serve(ScriptedChat(yes)) as server:
        door = Door(ours(server))
        streamed = list(graph.stream({"question": "is it so"}, stream_mode=["messages", "values"]))
        invoked = graph.invoke({"question": "is it so"})
    assert any(mode == "messages" for mode, _ in streamed)
    assert streamed[-1][1] == invoked
    assert server.requests[0].body.get("stream", False) is (not asked)


def test_an_interrupt_ends_the_wait_for_a_server_at_once() -> None:
    script = (
        "from langchain_openai import ChatOpenAI; from knowwhen.models import Door; import sys;"
        "model = ChatOpenAI(base_url=sys.argv[1], api_key='x', model='tiny', max_retries=0);"
        "print('asking', flush=True);"
        "Door(model).ask('is it so')"
    )
    with serve(ScriptedChat(yes), statuses=[503] * 5, retry_after="50") as server:
        command = [sys.executable, "-c", script, server.base_url]
        with started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as asking:
            while not (server.requests and server.requests[0].answered):
                time.sleep(0.01)
            time.sleep(0.3)  # by now it waits
            asking.send_signal(signal.SIGINT)
            asking.communicate(timeout=40)
    assert asking.returncode not in (0, None)
    assert len(server.requests) == 1
