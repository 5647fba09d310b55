"""What is no question is refused by every method alike, in one line, before anything is asked."""

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from method_worlds import WORLDS
from scripted import ScriptedChat
from self_dc_script import Shelf
from typing_extensions import TypedDict

from knowwhen.graphs import METHODS, direct
from knowwhen.models.errors import SettingsError

NO_QUESTIONS: list[Any] = [
    None,
    {},
    "Where is Alba?",
    {"q": "Where is Alba?"},
    {"question": None},
    {"question": ""},
    {"question": "  "},
    {"question": 7},
    {"question": ["Where is Alba?"]},
]
REFUSED = r'^a method is asked \{"question": "…"\} with a text in it, not '


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
@pytest.mark.parametrize("name", METHODS)
def test_what_is_no_question_is_refused_before_anything_is_asked(name: str, way: str) -> None:
    world = WORLDS[name]
    model = world.model(world.script)
    graph: Any = world.build(model, Shelf())
    for asked in NO_QUESTIONS:
        with pytest.raises(SettingsError, match=REFUSED) as refused:
            if way == "invoke":
                graph.invoke(asked)
            elif way == "ainvoke":
                asyncio.run(graph.ainvoke(asked))
            elif way == "stream":
                list(graph.stream(asked))
            else:
                graph.batch([asked])
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
    assert model.prompts == []


def test_in_a_graph_without_a_question_it_says_so_too() -> None:
    class Outer(TypedDict, total=False):
        answer: str
        user: str

    outer = StateGraph(Outer)
    outer.add_node("ask", direct(ScriptedChat([])))
    outer.add_edge(START, "ask")
    with pytest.raises(SettingsError, match=REFUSED):
        outer.compile().invoke({"user": "7"})


def test_nothing_is_asked_of_a_run_that_is_resumed() -> None:
    thread: Any = {"configurable": {"thread_id": "1"}}
    kept: Any = direct(ScriptedChat(["Zeno"])).copy(update={"checkpointer": InMemorySaver()})
    kept.invoke({"question": "q"}, thread, interrupt_before=["answer_directly"])
    assert kept.invoke(None, thread)["answer"] == "Zeno"
