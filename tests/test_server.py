"""A LangGraph server of langgraph.json, offline: what Studio and MCP clients see of every graph, and runs.

One server, started as `make studio` starts it, stands behind almost all tests; another serves what
docs/serve.md has a user write. Whatever in them asks for the network would be led to a door of ours, which
counts who knocks.
"""

import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from processes import started

import knowwhen.models
from knowwhen.graphs import METHODS
from knowwhen.graphs.descriptions import AGENT, DESCRIPTIONS
from knowwhen.tools.entry import Entry
from knowwhen.tools.index import build_index

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


def make_studio() -> tuple[dict[str, str], list[str]]:
    """The environment and the options with which the Makefile starts the server."""
    (recipe,) = re.findall(r"^studio:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    before, after = recipe.split("langgraph dev")
    return dict(re.findall(r"(\w+)=(\w+)", before)), after.split()


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Server]:
    """The server of a folder's langgraph.json, started as `make studio` starts it."""
    if not POCKET.is_file():
        pytest.skip("the pocket model has not been trained yet")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as outside, (folder / "log").open("w") as log:
        knocks: list[str] = []
        threading.Thread(target=_answer_the_door, args=(outside, knocks), daemon=True).start()
        proxy = f"http://127.0.0.1:{outside.getsockname()[1]}"
        offline = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": "127.0.0.1,localhost"}
        settings, options = make_studio()
        command = [sys.executable, "-m", "langgraph_cli", "dev", *options, "--port", str(port)]
        told = {**os.environ, **settings, **offline, **environment}
        with started(command, cwd=folder, env=told, stdout=log, stderr=log) as process:
            url = f"http://127.0.0.1:{port}"
            for _ in range(START_UP * 5):
                assert process.poll() is None, (folder / "log").read_text()
                try:
                    if httpx.get(f"{url}/ok").status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.2)
            yield Server(url, knocks)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")  # where the server keeps its threads
    (folder / "langgraph.json").write_text((ROOT / "langgraph.json").read_text())
    with serving(folder) as server:
        yield server


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
    assert set(found) == {*METHODS, "agent"}
    for name, description in {**DESCRIPTIONS, "agent": AGENT}.items():
        assert found[name]["name"] == name
        assert found[name]["description"] == description


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_is_shown_with_default_meaning_and_bounds(server: Server, name: str) -> None:
    shown: Any = server.client.assistants.get_schemas(server.ids[name])
    check_settings(shown["context_schema"]["properties"])
    assert list(shown["input_schema"]["properties"]) == ["question"]
    assert shown["input_schema"]["properties"]["question"]["description"]


FREE = ("threshold", "estimator")  # which depend on each other
UPWARDS = ("max_tokens", "tree_tokens", "top_k")  # as far as the model and the passages go


def check_settings(settings: dict[str, Any]) -> None:
    """Each has a default, a description and, as far as there can be any, bounds."""
    assert {"temperature", "top_p", "max_tokens"} <= set(settings)
    for setting, told in settings.items():
        assert "default" in told and told["description"], setting
        assert setting in FREE or bounded(told, upwards=setting not in UPWARDS), setting


def bounded(told: dict[str, Any], upwards: bool = True) -> bool:
    if "anyOf" in told:
        return all(bounded(each, upwards) for each in told["anyOf"] if each != {"type": "null"})
    below, above = {"minimum", "exclusiveMinimum"} & set(told), {"maximum", "exclusiveMaximum"} & set(told)
    return told["type"] == "boolean" or "enum" in told or bool(below and (above or not upwards))


def test_a_lower_bound_alone_is_none() -> None:
    assert not bounded({"type": "integer", "minimum": 1})
    assert not bounded({"anyOf": [{"type": "boolean"}, {"type": "number", "maximum": 1}]})
    assert bounded({"anyOf": [{"type": "null"}, {"type": "number", "minimum": 0, "exclusiveMaximum": 1}]})


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


@pytest.mark.parametrize("name", [*METHODS, "agent"])
def test_the_drawing_shows_every_subgraph_and_labels_every_choice(server: Server, name: str) -> None:
    drawn: Any = server.client.assistants.get_graph(server.ids[name], xray=True)
    nodes = {node["id"] for node in drawn["nodes"]}
    assert INSIDE.get(name, set()) <= nodes
    assert any(":" in node for node in nodes) == (name in INSIDE)
    choices = [edge for edge in drawn["edges"] if edge.get("conditional")]
    assert all(edge.get("data") for edge in choices)
    assert bool(choices) == (name in (*INSIDE, "agent"))
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


def failed(server: Server, name: str, given: Any, context: Any = None) -> str:
    """What a client is told of a run that fails."""
    output: Any = server.client.runs.wait(None, name, input=given, context=context, raise_error=False)
    return f"{output['__error__']['error']}: {output['__error__']['message']}"


def test_a_setting_out_of_its_range_ends_the_run_with_what_is_wrong(server: Server) -> None:
    told = failed(server, "self_dc", {"question": "q"}, {"alpha": 3})
    assert told.startswith("SettingsError: alpha=3 is out of range: input should be less than or equal to 1")


@contextmanager
def assistant(server: Server, context: dict[str, Any]) -> Iterator[str]:
    """One of Self-DC with settings of its own."""
    made = server.client.assistants.create("self_dc", context=context, name="own")["assistant_id"]
    try:
        yield made
    finally:
        server.client.assistants.delete(made)


def test_an_assistants_settings_are_its_own_and_checked_when_it_runs(server: Server) -> None:
    """As docs/serve.md tells: when it is made, a server looks at no value, and drops names there are not."""
    question = {"question": HALF_KNOWN}
    for context, steps in (({"alpha": 0.5}, 1), ({"alhpa": 0.5}, 3)):
        with assistant(server, context) as made:
            output: Any = server.client.runs.wait(None, made, input=question)
        assert len(output["steps"]) == steps
    with assistant(server, {"alpha": 3}) as made:
        assert failed(server, made, question).startswith("SettingsError: alpha=3 is out of range")


def rpc(server: Server, method: str, **parameters: Any) -> Any:
    """What an MCP client sends, and the result."""
    told = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    accepted = {"Accept": "application/json, text/event-stream"}
    answered = httpx.post(f"{server.url}/mcp", json=told, headers=accepted, timeout=60)
    return answered.raise_for_status().json()["result"]


def test_every_method_and_the_agent_are_tools_over_mcp(server: Server) -> None:
    tools = {tool["name"]: tool for tool in rpc(server, "tools/list")["tools"]}
    assert set(tools) == {*METHODS, "agent"}
    for name, description in {**DESCRIPTIONS, "agent": AGENT}.items():
        takes = "messages" if name == "agent" else "question"
        assert tools[name]["description"] == description
        assert tools[name]["inputSchema"]["required"] == [takes]
        assert tools[name]["inputSchema"]["properties"][takes]["description"]


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


def test_the_agents_settings_are_those_of_its_methods(server: Server) -> None:
    shown: Any = server.client.assistants.get_schemas(server.ids["agent"])
    settings = shown["context_schema"]["properties"]
    assert set(settings) == {"self_dc", "keqa", "seakr", "taikc"}
    for told in settings.values():
        assert told["description"]
        check_settings(shown["context_schema"]["$defs"][told["$ref"].rpartition("/")[2]]["properties"])
    for schema in ("input_schema", "output_schema"):
        assert list(shown[schema]["properties"]) == ["messages"]
        assert shown[schema]["properties"]["messages"]["description"]
    asked = {"messages": [{"role": "user", "content": "Who directed Thimis Plolm?"}]}
    context = {"self_dc": {"alpha": 1, "beta": 0}}
    said: Any = server.client.runs.wait(None, "agent", input=asked, context=context)
    (step,) = said["messages"][2]["artifact"]["steps"]
    assert step["route"] == "retrieve"
    context = {"self_dc": {"alpha": 3}}
    assert "self_dc: alpha=3 is out of range" in failed(server, "agent", asked, context)


@pytest.mark.parametrize("given", [{}, {"question": "Who directed Thimis Plolm?"}])
def test_an_agent_that_is_told_nothing_says_what_it_takes(server: Server, given: Any) -> None:
    told = failed(server, "agent", given)
    assert told.startswith("SettingsError: the agent answers the last message") and "messages" in told


def code_of_serve_md(language: str) -> list[str]:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def test_the_code_of_serve_md_runs(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    first, *_ = code_of_serve_md("python")
    said: dict[str, Any] = {}
    exec(first.replace("http://127.0.0.1:2024", server.url), said)
    assert said["output"]["answer"] == "Thudo Rake"
    assert "updates|answer_branch:" in capsys.readouterr().out


def test_nothing_asked_for_the_network(server: Server) -> None:
    for name in METHODS:  # also when this test runs alone
        server.run(name, "Who directed Thimis Plolm?")
        server.client.assistants.get_graph(server.ids[name], xray=True)
    assert server.knocks == []


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """What docs/serve.md has a user write, with a model whose server is down."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "served.py").write_text(code_of_serve_md("python")[-1])
    (folder / "langgraph.json").write_text(code_of_serve_md("json")[-1])
    build_index([Entry("1", "Plolm", "Thudo Rake directed Thimis Plolm.", "")], folder / "docs.index")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        down = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with serving(folder, OPENAI_BASE_URL=down, OPENAI_API_KEY="none") as server:
        yield server


def test_two_graphs_of_one_method_are_two_tools(own: Server) -> None:
    tools = {tool["name"]: tool["description"] for tool in rpc(own, "tools/list")["tools"]}
    described = {
        name: each["description"] for name, each in json.loads(code_of_serve_md("json")[-1])["graphs"].items()
    }
    assert tools == described
    assert len(tools) == 2
    for name in tools:
        result = rpc(own, "tools/call", name=name, arguments={"question": "Who directed Thimis Plolm?"})
        assert result["content"] == [{"type": "text", "text": "ModelError"}]


def test_what_failed_is_told_in_one_line(own: Server) -> None:
    for name in own.ids:
        told = failed(own, name, {"question": "Who directed Thimis Plolm?"})
        assert re.match(r"ModelError: .*gpt-4o-mini.* could not be reached", told), told
        assert "\n" not in told
