"""What a node asked before it failed is not asked again when the run is resumed; all else is."""

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy
from scripted import ScriptedChat
from typing_extensions import TypedDict

from knowwhen.models.door import Door
from knowwhen.models.keeping_door import CHANNEL, KeepingDoor
from knowwhen.nodes.node import as_node

THREAD: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    question: str
    texts: list[str]


class Failure(Exception):
    """Of the node, between its calls."""


class Lab:
    """A graph whose node asks a numbering model three times for the same, and fails `failures` times."""

    def __init__(
        self, failures: int, door: type[Door] = KeepingDoor, retries: int = 1, saver: Any = None
    ) -> None:
        self.model = ScriptedChat(lambda prompt: f"{prompt} {len(self.model.prompts)}")
        self.failures = failures
        at = door(self.model)

        def ask_thrice(state: Any) -> Any:
            (sampled,) = at.sample([state["question"]], 2, greedy=False)
            (again,) = at.sample([state["question"]], 2, greedy=False)
            last = at.ask(state["question"]).text
            if self.failures:
                self.failures -= 1
                raise Failure
            return {"texts": [*(each.text for each in (*sampled.samples, *again.samples)), last]}

        graph = StateGraph(State)
        policy = RetryPolicy(max_attempts=retries, initial_interval=0.001, retry_on=Failure)
        graph.add_node("ask_thrice", as_node(at, ask_thrice), retry_policy=policy)
        graph.add_edge(START, "ask_thrice")
        self.graph: Any = graph.compile(checkpointer=saver)

    @property
    def asked(self) -> int:
        return len(self.model.prompts)

    def run(self, question: str | None, way: str = "invoke") -> Any:
        asked = None if question is None else {"question": question}
        if way == "invoke":
            return self.graph.invoke(asked, THREAD)["texts"]
        return asyncio.run(self.graph.ainvoke(asked, THREAD))["texts"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_resumed_node_gets_what_it_was_told_the_same_asked_again_is_another_sample(way: str) -> None:
    lab = Lab(failures=2, saver=InMemorySaver())
    for question in ("q", None):
        with pytest.raises(Failure):
            lab.run(question, way)
    assert lab.run(None, way) == ["q 1", "q 1", "q 2", "q 2", "q 3"]
    assert lab.asked == 3


def test_a_node_that_is_tried_again_at_once_asks_nothing_twice_either() -> None:
    lab = Lab(failures=2, retries=3, saver=InMemorySaver())
    assert lab.run("q") == ["q 1", "q 1", "q 2", "q 2", "q 3"]
    assert lab.asked == 3


def test_a_new_question_and_the_same_one_put_again_are_asked_anew() -> None:
    lab = Lab(failures=0, saver=InMemorySaver())
    assert lab.run("q")[0] == "q 1"
    assert lab.run("q")[0] == "q 4"
    assert lab.run("r")[0] == "r 7"


def test_who_goes_back_in_time_asks_anew() -> None:
    lab = Lab(failures=0, saver=InMemorySaver())
    lab.run("q")
    (before,) = [state for state in lab.graph.get_state_history(THREAD) if state.next == ("ask_thrice",)]
    assert lab.graph.invoke(None, before.config)["texts"][0] == "q 4"


def test_an_ordinary_door_or_a_graph_without_a_checkpointer_keeps_nothing() -> None:
    for lab in (Lab(failures=1, saver=InMemorySaver(), door=Door), Lab(failures=1, retries=2)):
        if lab.graph.checkpointer:
            with pytest.raises(Failure):
                lab.run("q")
            lab.run(None)
        else:
            lab.run("q")
        assert lab.asked == 6


@pytest.mark.parametrize(("durability", "kept"), [("exit", 0), ("async", 3), ("sync", 3)])
def test_a_run_that_writes_no_checkpoints_leaves_no_replies_behind_either(durability: Any, kept: int) -> None:
    saver = InMemorySaver()
    lab = Lab(failures=0, saver=saver)
    lab.graph.invoke({"question": "q"}, THREAD, durability=durability)
    written = [channel for writes in saver.writes.values() for _, channel, *_ in writes.values()]
    assert written.count(CHANNEL) == kept


class OnlyAsynchronous(InMemorySaver):
    """As a checkpointer is whose author wrote only that half."""

    from langgraph.checkpoint.base import BaseCheckpointSaver

    put_writes = BaseCheckpointSaver.put_writes

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        InMemorySaver.put_writes(self, *args, **kwargs)


def test_a_checkpointer_that_cannot_be_written_to_from_a_thread_keeps_nothing_and_breaks_nothing() -> None:
    lab = Lab(failures=1, saver=OnlyAsynchronous())
    with pytest.raises(Failure):
        lab.run("q", "ainvoke")
    assert lab.run(None, "ainvoke")[0] == "q 4"


def test_outside_a_graph_it_is_a_door_like_any_other() -> None:
    model = ScriptedChat(["Zeno"])
    assert KeepingDoor(model).ask("q").text == "Zeno"


def test_a_states_readers_see_nothing_of_what_is_kept() -> None:
    lab = Lab(failures=1, saver=InMemorySaver())
    with pytest.raises(Failure):
        lab.run("q")
    state = lab.graph.get_state(THREAD)
    assert state.values == {"question": "q"} and state.next == ("ask_thrice",)
    (task,) = state.tasks
    assert task.name == "ask_thrice" and "Failure" in task.error
