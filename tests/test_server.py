"""A LangGraph server of langgraph.json, offline: what Studio and MCP clients see of every graph, and runs.

One server, started as `make studio` starts it, stands behind all tests. Whatever in it asks for the network
would be led to a door of ours, which counts who knocks.
"""

import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from processes import started

import knowwhen.models
from knowwhen.graphs import METHODS
from knowwhen.graphs.descriptions import DESCRIPTIONS

pytest.importorskip("langgraph_api", reason="the extra 'studio' is not installed")

ROOT = Path(__file__).resolve().parents[1]
POCKET = Path(next(iter(knowwhen.models.__path__))) / "pocket" / "config.json"
HALF_KNOWN = "Which person starred in Skirn Vlurk and directed Thimis Plolm?"
CHAINED = "What is the birthplace of the director of Thimis Plolm?"
START_UP = 240  # seconds that a server may take on a busy machine


class Server:
    """Where it is, and how often something in it went out."""

    def __init__(self, url: str, knocks: list[str]) -> None:
        self.url, self.knocks = url, knocks
        self.client: SyncLangGraphClient = get_sync_client(url=url)
        self.ids = {a["graph_id"]: a["assistant_id"] for a in self.client.assistants.search(limit=100)}

    def run(self, name: str, question: str, **context: Any) -> dict[str, Any]:
        """The output of a run in a thread of its own."""
        output: Any = self.client.runs.wait(None, name, input={"question": question}, context=context)
        return dict(output)


def settings_of_make_studio() -> dict[str, str]:
    """The environment in which the Makefile starts the server."""
    (recipe,) = re.findall(r"^studio:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return dict(re.findall(r"(\w+)=(\w+)", recipe.split("langgraph dev")[0]))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not POCKET.is_file():
        pytest.skip("the pocket model has not been trained yet")
    folder = tmp_path_factory.mktemp("server")  # where the server keeps its threads
    (folder / "langgraph.json").write_text((ROOT / "langgraph.json").read_text())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as outside, (folder / "log").open("w") as log:
        knocks: list[str] = []
        threading.Thread(target=_answer_the_door, args=(outside, knocks), daemon=True).start()
        proxy = f"http://127.0.0.1:{outside.getsockname()[1]}"
        offline = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": "127.0.0.1,localhost"}
        environment = {**os.environ, **settings_of_make_studio(), **offline}
        command = [
            sys.executable,
            "-m",
            "langgraph_cli",
            "dev",
            "--no-browser",
            "--no-reload",
            "--port",
            str(port),
        ]
        with started(command, cwd=folder, env=environment, stdout=log, stderr=log) as process:
            url = f"http://127.0.0.1:{port}"
            for _ in range(START_UP * 5):
                assert process.poll() is None, (folder / "log").read_text()
                try:
                    if httpx.get(f"{url}/ok").status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.2)
            yield Server(url, knocks)


def _answer_the_door(outside: socket.socket, knocks: list[str]) -> None:
    while True:
        try:
            connection, _ = outside.accept()
        except OSError:  # closed
            return
        with connection:
            connection.settimeout(1)
            knocks.append(connection.recv(200).decode(errors="replace").split("\r\n")[0])


def test_every_method_is_an_assistant_of_its_own_name(server: Server) -> None:
    found = {a["graph_id"]: a for a in server.client.assistants.search(limit=100)}
    assert set(found) >= set(METHODS)
    for name in METHODS:
        assert found[name]["name"] == name
        assert found[name]["description"] == DESCRIPTIONS[name]


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_is_shown_with_default_meaning_and_bounds(server: Server, name: str) -> None:
    shown: Any = server.client.assistants.get_schemas(server.ids[name])
    settings = shown["context_schema"]["properties"]
    assert {"temperature", "top_p", "max_tokens"} <= set(settings)
    for setting, told in settings.items():
        assert "default" in told and told["description"], setting
        assert bounded(told) or setting in ("threshold", "estimator"), setting  # these depend on each other
    assert list(shown["input_schema"]["properties"]) == ["question"]
    assert shown["input_schema"]["properties"]["question"]["description"]


def bounded(told: dict[str, Any]) -> bool:
    if "anyOf" in told:
        return any(bounded(each) for each in told["anyOf"])
    limits = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum"}
    return told["type"] == "boolean" or bool(limits & set(told))


@pytest.mark.parametrize("name", METHODS)
def test_the_output_is_shown_with_tree_scores_sources_and_cost(server: Server, name: str) -> None:
    shown: Any = server.client.assistants.get_schemas(server.ids[name])
    output = shown["output_schema"]
    assert {"answer", "steps", "confidence", "uncertainty", "cost"} <= set(output["properties"])
    step = output["$defs"]["Step"]["properties"]
    assert {"id", "parent", "question", "route", "score", "estimator", "passages", "answer"} <= set(step)
    assert {"title", "text", "source"} <= set(output["$defs"]["Passage"]["properties"])
    described = [
        *output["properties"].values(),
        *step.values(),
        *output["$defs"]["Passage"]["properties"].values(),
    ]
    assert all(each.get("description") for each in described)


INSIDE = {  # a node inside each subgraph
    "self_dc": {"solve:score_confidence"},
    "keqa": {"answer_branch:answer_question:assess", "answer_branch:next_round"},
    "seakr": {"reason:think", "reason:rerank"},
    "taikc": {"answer_branch:answer_question:confident_qa", "answer_branch:next_round"},
}


@pytest.mark.parametrize("name", METHODS)
def test_the_drawing_shows_every_subgraph_and_labels_every_choice(server: Server, name: str) -> None:
    drawn: Any = server.client.assistants.get_graph(server.ids[name], xray=True)
    nodes = {node["id"] for node in drawn["nodes"]}
    assert INSIDE.get(name, set()) <= nodes
    assert any(":" in node for node in nodes) == (name in INSIDE)
    choices = [edge for edge in drawn["edges"] if edge.get("conditional")]
    assert all(edge.get("data") for edge in choices)
    assert bool(choices) == (name in INSIDE)
    ends = {edge[end] for edge in drawn["edges"] for end in ("source", "target")}
    assert ends <= nodes


def routes(output: dict[str, Any]) -> set[str]:
    return {step["route"] for step in output["steps"]}


FEWER = ({"max_tokens": 1}, lambda output: output["cost"]["output_tokens"] <= output["cost"]["model_calls"])
CHANGED: dict[str, tuple[dict[str, Any], Any]] = {  # settings, and what is true with them alone
    "direct": FEWER,
    "chain_of_thought": FEWER,
    "generate_then_read": FEWER,
    "retrieve_then_read": ({"passages": 1}, lambda output: output["cost"]["passages"] == 1),
    "self_dc": ({"alpha": 0.9, "beta": 0.25}, lambda output: "generate" not in routes(output)),
    "keqa": ({"quizzes": False}, lambda output: len(output["steps"]) == 1),
    "seakr": ({"hops": "one"}, lambda output: len(output["steps"]) <= 2),
    "taikc": ({"knowledge": "internal"}, lambda output: routes(output) <= {"direct", "decompose"}),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_run_streams_and_its_settings_are_its_own(server: Server, name: str) -> None:
    context, holds = CHANGED[name]
    question = CHAINED if name == "taikc" else HALF_KNOWN
    thread = server.client.threads.create()["thread_id"]
    parts = list(
        server.client.runs.stream(
            thread,
            name,
            input={"question": question},
            context=context,
            stream_mode=["values", "updates", "custom", "messages-tuple"],
            stream_subgraphs=True,
        )
    )
    output: Any = [part.data for part in parts if part.event == "values"][-1]
    assert holds(output), output
    assert {"updates", "messages"} <= {part.event.split("|")[0] for part in parts}
    inner = [part for part in parts if part.event.startswith("updates|")]
    assert bool(inner) == (name in INSIDE)

    history = server.client.threads.get_history(thread)
    assert history[0]["next"] == [] and history[0]["values"]["answer"] == output["answer"]
    assert history[-1]["next"] and "answer" not in history[-1]["values"]
    assert server.client.threads.get_state(thread)["values"]["steps"] == output["steps"]

    assert not holds(server.run(name, question))


def test_a_setting_out_of_its_range_ends_the_run_with_what_is_wrong(server: Server) -> None:
    failed: Any = server.client.runs.wait(
        None, "self_dc", input={"question": "q"}, context={"alpha": 3}, raise_error=False
    )
    assert "alpha=3 is out of range" in str(failed)


def rpc(server: Server, method: str, **parameters: Any) -> Any:
    """What an MCP client sends, and the result."""
    told = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    accepted = {"Accept": "application/json, text/event-stream"}
    answered = httpx.post(f"{server.url}/mcp", json=told, headers=accepted, timeout=60)
    return answered.raise_for_status().json()["result"]


def test_every_method_is_a_tool_over_mcp(server: Server) -> None:
    tools = {tool["name"]: tool for tool in rpc(server, "tools/list")["tools"]}
    assert set(tools) >= set(METHODS)
    for name in METHODS:
        assert tools[name]["description"] == DESCRIPTIONS[name]
        assert tools[name]["inputSchema"]["required"] == ["question"]
        assert tools[name]["inputSchema"]["properties"]["question"]["description"]


@pytest.mark.parametrize("name", METHODS)
def test_a_tool_called_over_mcp_answers(server: Server, name: str) -> None:
    question = "Who directed Thimis Plolm?"
    result = rpc(server, "tools/call", name=name, arguments={"question": question})
    assert not result.get("isError")
    (content,) = result["content"]
    assert "'steps'" in content["text"] and question in content["text"]
    assert "'answer': 'Thudo Rake'" in content["text"]


def test_the_agent_is_served_with_its_conversation(server: Server) -> None:
    client, agent = server.client, server.ids["agent"]
    shown: Any = client.assistants.get_schemas(agent)
    assert "messages" in shown["input_schema"]["properties"]
    nodes = {node["id"] for node in client.assistants.get_graph(agent, xray=True)["nodes"]}
    assert {"model", "tools"} <= nodes
    thread = client.threads.create()["thread_id"]
    for question in ("Who directed Thimis Plolm?", "Hello"):
        asked = {"messages": [{"role": "user", "content": question}]}
        said: Any = client.runs.wait(thread, agent, input=asked)
    kinds = [message["type"] for message in said["messages"]]
    assert kinds == ["human", "ai", "tool", "ai", "human", "ai"]
    answered = said["messages"][2]
    assert answered["artifact"]["answer"] == "Thudo Rake"
    assert "Thudo Rake" in said["messages"][3]["content"]
    assert len(client.threads.get_history(thread)) > 6


def test_the_code_of_serve_md_runs(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    said: dict[str, Any] = {}
    exec(first.replace("http://127.0.0.1:2024", server.url), said)
    assert said["output"]["answer"] == "Thudo Rake"
    assert "updates|answer_branch:" in capsys.readouterr().out


def test_nothing_asked_for_the_network(server: Server) -> None:
    assert server.knocks == []
