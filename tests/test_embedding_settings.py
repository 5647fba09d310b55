"""Settings of one run: as context, bound to a method, in a batch, and through graphs and tools around it."""

import asyncio
from collections import Counter
from types import MappingProxyType
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from method_worlds import WORLDS
from pydantic import BaseModel
from scripted import ScriptedChat
from self_dc_script import Shelf, World, routes
from typing_extensions import TypedDict

from knowwhen.graphs import METHODS, Method, self_dc
from knowwhen.models.errors import SettingsError
from knowwhen.tools import as_tool

ASKED: Any = {"question": "q"}
KNOWN, UNKNOWN = {"alpha": 0.0, "beta": 0.0}, {"alpha": 1.0, "beta": 0.0}  # whatever the model's confidence


def method() -> Method:
    return self_dc(ScriptedChat(World()), Shelf(), confidence="verbalised", **UNKNOWN)


def route(output: Any) -> str:
    return routes(output)["1"]


def in_invoke(graph: Method, asked: Any, context: Any) -> None:
    graph.invoke(asked, context=context)


def in_ainvoke(graph: Method, asked: Any, context: Any) -> None:
    asyncio.run(graph.ainvoke(asked, context=context))


def in_batch(graph: Method, asked: Any, context: Any) -> None:
    graph.batch([asked], context=context)


def bound_in_a_pipe(graph: Method, asked: Any, context: Any) -> None:
    (RunnableLambda(lambda question: question) | graph.bind(context=context)).invoke(asked)


def read_only(graph: Method, asked: Any, context: Any) -> None:
    graph.invoke(asked, context=MappingProxyType(context or {}))  # type: ignore[arg-type]


def as_settings(graph: Method, asked: Any, context: Any) -> None:
    graph.invoke(asked, context=graph.context_schema(**(context or {})))  # type: ignore[misc]


def in_the_config(graph: Method, asked: Any, context: Any) -> None:
    graph.invoke(asked, {"configurable": {"user": "7", **(context or {})}})


def with_a_config_of_its_own(graph: Method, asked: Any, context: Any) -> None:
    asyncio.run(graph.with_config(configurable=context or {}).ainvoke(asked))


RUNS = [
    in_invoke,
    in_ainvoke,
    in_batch,
    bound_in_a_pipe,
    read_only,
    as_settings,
    in_the_config,
    with_a_config_of_its_own,
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", METHODS)
def test_a_setting_holds_at_every_depth_of_one_run_and_not_for_the_next(name: str, run: Any) -> None:
    world, asked = WORLDS[name], {"question": WORLDS[name].question}
    model = world.model(world.script)
    graph = world.build(model, Shelf(), max_tokens=99)
    runs = []
    for context in (None, {"max_tokens": 77}, None):
        before = len(model.calls)
        run(graph, asked, context)
        runs.append(Counter(call["max_tokens"] for call in model.calls[before:]))
    usual, changed, after = runs
    assert usual[99] and usual == after  # others have a length of their own: a word, a tree
    assert changed == Counter({77 if told == 99 else told: count for told, count in usual.items()})


def test_runs_side_by_side_have_settings_of_their_own() -> None:
    graph = method()

    async def both() -> list[Any]:
        return await asyncio.gather(
            graph.ainvoke(ASKED, context=KNOWN), graph.ainvoke(ASKED), graph.ainvoke(ASKED, context=KNOWN)
        )

    assert [route(output) for output in asyncio.run(both())] == ["generate", "retrieve", "generate"]


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"alpha": 3}, "alpha=3 is out of range"),
        ({"alhpa": 0.3}, "there is no setting 'alhpa'; choose from"),
        ({1: 2}, "there is no setting '1'; choose from"),
        ("alpha=0.9", "a context is settings by name, such as .*, not 'alpha=0.9'"),
        ([("alpha", 0.9)], "a context is settings by name, such as "),
        (7, "a context is settings by name, such as .*, not 7"),
        (object(), "a context is settings by name, such as "),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_is_asked(context: Any, said: str) -> None:
    model = ScriptedChat(World())
    graph = self_dc(model, Shelf(), confidence="verbalised")
    for run in (graph.invoke, lambda asked, context: asyncio.run(graph.ainvoke(asked, context=context))):
        with pytest.raises(SettingsError, match=said):
            run(ASKED, context=context)
    assert model.prompts == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_setting_in_the_wrong_place_is_refused(way: str) -> None:
    graph: Any = method()

    def run(runnable: Any, **given: Any) -> Any:
        return (
            runnable.invoke(ASKED, **given)
            if way == "invoke"
            else asyncio.run(runnable.ainvoke(ASKED, **given))
        )

    with pytest.raises(SettingsError, match=r"'alpha' is a setting; write context=\{'alpha': …\}"):
        run(graph, alpha=0.9)
    with pytest.raises(SettingsError, match="'alpha' is a setting"):
        run(graph.bind(alpha=0.9))
    with pytest.raises(SettingsError, match="alpha=9 is out of range"):
        run(graph.with_config(configurable={"alpha": 9}))


def test_a_context_says_more_than_the_config_that_repeats_it() -> None:
    assert route(method().invoke(ASKED, {"configurable": UNKNOWN}, context=KNOWN)) == "generate"


class Outer(TypedDict):
    question: str
    answer: str


class OuterContext(BaseModel):
    """Of an application; it has a name in common with a method's settings, which it does not mean."""

    alpha: float = 0.0
    user: str = "7"


@pytest.mark.parametrize("context", [None, {"alpha": 0.0, "user": "8"}])
@pytest.mark.parametrize("inside", ["as a node", "called in a node", "as a tool"])
def test_a_method_inside_another_graph_keeps_its_own_settings(inside: str, context: Any) -> None:
    graph, tool, said = method(), as_tool(method()), []

    def ask(state: Outer) -> Any:
        if inside == "as a tool":
            said.append(tool.invoke({"type": "tool_call", "id": "1", "name": "t", "args": ASKED}).artifact)
        else:
            said.append(graph.invoke({"question": state["question"]}))
        return {"answer": said[0]["answer"]}

    outer = StateGraph(Outer, context_schema=OuterContext)
    outer.add_node("ask", graph if inside == "as a node" else ask)
    outer.add_edge(START, "ask")
    compiled = outer.compile()
    around: Any = {"configurable": {"alpha": 0.0}}
    updates = list(compiled.stream(ASKED, around, context=context, subgraphs=True, stream_mode="updates"))
    assert updates
    if said:
        assert route(said[0]) == "retrieve"
    else:
        nodes = [node for _, update in updates for node in update]
        assert "retrieve" in nodes and "generate_background" not in nodes
