"""What every graph promises: a drawing made offline, a place on a server, the same output from both ways."""

import asyncio
import importlib
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from scripted import ScriptedChat
from self_dc_script import Shelf, World

import knowwhen.models
from knowwhen.graphs import METHODS, Method, chain_of_thought, direct, generate_then_read, self_dc
from knowwhen.graphs.descriptions import AGENT, DESCRIPTIONS
from knowwhen.nodes.think import FINAL_MARK
from knowwhen.nodes.think_step_by_step import ANSWER_MARK

ROOT = Path(__file__).resolve().parents[1]
SERVED = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
POCKET = Path(next(iter(knowwhen.models.__path__))) / "pocket" / "config.json"


def build(name: str, script: Any = ()) -> Method:
    make: Any = METHODS[name]
    model = ScriptedChat(script)
    return make(model, *SHELVES.get(name, ()), **SETTINGS.get(name, {}))


SHELVES = {name: (Shelf(),) for name in ("self_dc", "retrieve_then_read", "keqa", "seakr", "taikc")}
SETTINGS: dict[str, Any] = {
    "keqa": {"shown": "none"},
    "seakr": {"estimator": "consistency", "samples": 2, "threshold": 0.5, "query": "thought"},
}


DRAWN = {
    "direct": ["__start__ --> answer_directly", "answer_directly --> __end__"],
    "chain_of_thought": ["__start__ --> think_step_by_step", "think_step_by_step --> __end__"],
    "generate_then_read": ["__start__ --> generate_background", "generate_background --> read_passages"],
    "retrieve_then_read": ["__start__ --> retrieve", "retrieve --> read_passages"],
    "self_dc": [
        "__start__ --> score_confidence",
        "score_confidence -. &nbsp;known&nbsp; .-> generate_background",
        "score_confidence -. &nbsp;half known&nbsp; .-> decompose",
        "score_confidence -. &nbsp;unknown&nbsp; .-> retrieve",
        "decompose -. &nbsp;each part&nbsp; .-> solve",
        "decompose -. &nbsp;cannot be divided&nbsp; .-> retrieve",
        "solve --> combine",
        "retrieve --> read_passages",
        "generate_background --> read_passages",
        "combine --> __end__",
        "read_passages --> __end__",
    ],
    "keqa": [
        "__start__ --> make_quizzes",
        "make_quizzes -. &nbsp;each branch&nbsp; .-> answer_branch",
        "answer_branch --> gather_answers",
        "gather_answers -. &nbsp;quizzes&nbsp; .-> summarise",
        "gather_answers -. &nbsp;own quiz&nbsp; .-> __end__",
        "summarise --> __end__",
    ],
    "seakr": [
        "__start__ --> begin_reasoning",
        "begin_reasoning --> reason",
        "reason -. &nbsp;think on&nbsp; .-> reason",
        "reason -. &nbsp;from rationales&nbsp; .-> answer_from_rationales",
        "reason -. &nbsp;from knowledge&nbsp; .-> answer_from_knowledge",
        "reason -. &nbsp;one answer&nbsp; .-> choose_answer",
        "answer_from_rationales --> choose_answer",
        "answer_from_knowledge --> choose_answer",
        "choose_answer --> __end__",
    ],
    "taikc": [
        "__start__ --> make_tree",
        "make_tree -. &nbsp;each branch&nbsp; .-> answer_branch",
        "answer_branch --> gather_answers",
        "gather_answers -. &nbsp;each chain&nbsp; .-> summarise_chain",
        "gather_answers -. &nbsp;unanswered&nbsp; .-> give_up",
        "gather_answers -. &nbsp;not divided&nbsp; .-> __end__",
        "summarise_chain --> read_chains",
        "read_chains --> __end__",
        "give_up --> __end__",
    ],
}


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a drawing went to the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.usefixtures("offline")
def test_a_drawing_holds_every_node_and_route_and_nothing_else(name: str) -> None:
    drawing = build(name).get_graph().draw_mermaid()
    arrows = {
        line.strip(" ;\t") for line in drawing.splitlines() if ">" in line and "-" in line and "(" not in line
    }
    assert set(DRAWN[name]) <= arrows
    assert len(arrows) == len(build(name).get_graph().edges)


@pytest.mark.usefixtures("offline")
def test_self_dc_is_drawn_with_itself_inside_once() -> None:
    graph = build("self_dc")
    drawing = graph.get_graph(xray=True).draw_mermaid()
    assert drawing.count("subgraph solve") == 1
    assert drawing == graph.get_graph(xray=5).draw_mermaid()
    inside = {node.removeprefix("solve:") for node in graph.get_graph(xray=True).nodes if ":" in node}
    assert inside == set(graph.get_graph().nodes) - {"__start__"}


@pytest.mark.usefixtures("offline")
def test_keqa_is_drawn_with_a_quizs_way_inside_once() -> None:
    graph = build("keqa").get_graph(xray=True)
    assert graph.draw_mermaid().count("subgraph answer_question") == 1
    arrows = {
        (edge.source.rpartition(":")[2], edge.data, edge.target.rpartition(":")[2])
        for edge in graph.edges
        if ":answer_question:" in edge.source and ":answer_question:" in edge.target
    }
    assert {
        ("assess", "unknown", "retrieve"),
        ("pick", "none kept", "fall_back"),
        ("pick", "read", "read_passages"),
        ("pick", "extract", "extract_sentences"),
    } <= arrows


@pytest.mark.usefixtures("offline")
def test_taikc_is_drawn_with_a_querys_way_inside_once() -> None:
    graph = build("taikc").get_graph(xray=True)
    assert graph.draw_mermaid().count("subgraph answer_question") == 1
    arrows = {
        (edge.source.rpartition(":")[2], edge.data, edge.target.rpartition(":")[2])
        for edge in graph.edges
        if ":answer_question:" in edge.source and ":answer_question:" in edge.target
    }
    assert {
        ("choose_source", "Confident QA", "confident_qa"),
        ("choose_source", "an estimator", "estimate_certainty"),
        ("choose_source", "internal", "direct_qa"),
        ("choose_source", "external", "retrieve"),
        ("confident_qa", "RAG_REQUIRED", "retrieve"),
        ("estimate_certainty", "uncertain", "retrieve"),
        ("retrieve", None, "read_if_there"),
        ("read_if_there", "not there", "direct_qa"),
    } <= arrows


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_a_graph_of_its_own_name(name: str) -> None:
    assert isinstance(build(name), CompiledStateGraph)
    assert build(name).name == name


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.usefixtures("offline")
def test_every_choice_of_a_way_is_labelled_at_every_depth(name: str) -> None:
    chosen = [edge for edge in build(name).get_graph(xray=True).edges if edge.conditional]
    assert [edge for edge in chosen if not edge.data] == []
    assert bool(chosen) == (name in ("self_dc", "keqa", "seakr", "taikc"))


def test_every_method_and_the_agent_are_served_and_described() -> None:
    described = {name: served["description"] for name, served in SERVED.items()}
    assert described == {**DESCRIPTIONS, "agent": AGENT}
    assert set(described) == {*METHODS, "agent"}


@pytest.mark.parametrize(("name", "served"), SERVED.items())
def test_a_served_graph_is_in_the_dictionary_where_a_server_looks(name: str, served: Any) -> None:
    if not POCKET.is_file():
        pytest.skip("the pocket model has not been trained yet")
    module, attribute = served["path"].split(":")
    graph = vars(importlib.import_module(module))[attribute]
    assert isinstance(graph, CompiledStateGraph)
    assert graph.name == name


def test_importing_the_graphs_builds_none_and_loads_no_torch() -> None:
    seen = "import sys, knowwhen.graphs; print('torch' in sys.modules, 'transformers' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]


SCRIPTS: dict[str, Any] = {
    "direct": ["Zeno"],
    "chain_of_thought": [f"Alba is in Zeno. {ANSWER_MARK} Zeno."],
    "generate_then_read": ["Alba is in Zeno.", "Zeno"],
    "retrieve_then_read": ["Zeno"],
    "self_dc": [("Zeno", 0.1), "Zeno"],
    "keqa": ["#1: Where is Alba?", ["Zeno"] * 5],
    "seakr": [f"{FINAL_MARK} Zeno."] * 4,
    "taikc": ['{"query1": {"question": "Where is Alba?"}}', "RAG_REQUIRED", "Zeno"],
}


@pytest.mark.parametrize("name", METHODS)
def test_both_ways_to_run_give_the_same_output_and_it_is_json(name: str) -> None:
    asked: Any = {"question": "Where is Alba?"}
    output = build(name, SCRIPTS[name]).invoke(asked)
    assert output == asyncio.run(build(name, SCRIPTS[name]).ainvoke(asked))
    assert json.loads(json.dumps(output)) == output
    assert output["answer"] == "Zeno"
    assert output["explanation"]
    *_, step = output["steps"]
    assert step["answer"] == "Zeno"
    assert step["question"] == step["resolved"] == "Where is Alba?"
    routes = {"generate_then_read": "generate", "keqa": "confident", "seakr": "confident"}
    assert step["route"] == routes.get(
        name, "direct" if name in ("direct", "chain_of_thought") else "retrieve"
    )
    assert output["cost"]["model_calls"] == len(SCRIPTS[name])
    assert output["cost"]["input_tokens"] > 0


@pytest.mark.parametrize("name", METHODS)
def test_a_second_question_in_a_thread_that_a_server_keeps_is_answered_afresh(name: str) -> None:
    kept = build(name, SCRIPTS[name] * 2).copy(update={"checkpointer": InMemorySaver()})
    thread: Any = {"configurable": {"thread_id": "1"}}
    first = kept.invoke({"question": "Where is Alba?"}, thread)
    assert kept.invoke({"question": "Where is Alba?"}, thread) == first
    assert first == build(name, SCRIPTS[name]).invoke({"question": "Where is Alba?"})


def test_a_thought_without_a_marked_answer_ends_in_its_last_line() -> None:
    output = chain_of_thought(ScriptedChat(["Alba?\nZeno it is.\n"])).invoke({"question": "q"})
    assert output["answer"] == "Zeno it is."
    assert ANSWER_MARK in output["steps"][0]["notes"][0]
    assert chain_of_thought(ScriptedChat([""])).invoke({"question": "q"})["answer"] == ""


def test_only_questions_go_in_and_only_answers_come_out() -> None:
    hidden: Any = {"question": "q", "depth": 3, "id": "9", "steps": [], "notes": ["x"], "answer": "z"}
    output = self_dc(
        ScriptedChat(World({"q": 0.6}, {"q": ["a", "b"]})), Shelf(), confidence="verbalised"
    ).invoke(hidden)
    assert [step["id"] for step in output["steps"]] == ["1.1", "1.2", "1"]
    assert set(output) == {"answer", "explanation", "confidence", "steps", "cost"}


def test_a_method_without_a_gate_has_no_confidence() -> None:
    for output in (
        direct(ScriptedChat(["x"])).invoke({"question": "q"}),
        generate_then_read(ScriptedChat(["x", "y"])).invoke({"question": "q"}),
    ):
        assert output.get("confidence") is None
        assert output["steps"][0]["score"] is None


def test_text_streams_from_every_depth_of_the_tree() -> None:
    world = World({"root": 0.6}, {"root": ["a", "b"]})
    stream = self_dc(ScriptedChat(world), Shelf(), confidence="verbalised").stream(
        {"question": "root"}, stream_mode="messages", subgraphs=True
    )
    nodes = [metadata["langgraph_node"] for _, (_, metadata) in stream]
    assert nodes.count("score_confidence") == 3
    assert nodes.count("combine") == 1
