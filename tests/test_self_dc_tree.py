"""Self-DC over a tree of questions: recursion, depth, order, parallel parts, costs and bounds."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from scripted import ScriptedChat
from self_dc_script import SEVEN, Shelf, World, as_reply, notes, routes, task_of, tasks_of

from knowwhen.graphs import Method, self_dc
from knowwhen.models.errors import ModelError

Run = Callable[[Method, list[dict[str, Any]]], list[dict[str, Any]]]


def build(script: Any, shelf: Shelf | None = None, **settings: Any) -> Method:
    model = script if isinstance(script, ScriptedChat) else ScriptedChat(script)
    return self_dc(
        model, shelf or Shelf(), **{"confidence": "verbalised", "alpha": 0.6, "beta": 0.1, **settings}
    )


def ask(script: Any, question: str = "root", **settings: Any) -> dict[str, Any]:
    output: dict[str, Any] = build(script, **settings).invoke({"question": question})
    return output


def by_invoke(method: Method, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [method.invoke(asked) for asked in inputs]


def by_ainvoke(method: Method, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    async def each() -> list[dict[str, Any]]:
        return [await method.ainvoke(asked) for asked in inputs]

    return asyncio.run(each())


def by_batch(method: Method, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return method.batch(inputs, {"max_concurrency": len(inputs)})


def by_abatch(method: Method, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return asyncio.run(method.abatch(inputs))


def through_a_pipe(method: Method, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    pipe = RunnableLambda(lambda asked: asked) | method
    return [pipe.invoke(asked) for asked in inputs]


def as_a_tool(method: Method, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tool = StructuredTool.from_function(
        lambda question: method.invoke({"question": question}), name="ask", description="Answers questions."
    )
    return [tool.invoke(asked) for asked in inputs]


RUNS = [by_invoke, by_ainvoke, by_batch, by_abatch, through_a_pipe, as_a_tool]


def test_a_half_known_part_is_divided_again_and_children_are_answered_before_their_parent() -> None:
    output = ask(SEVEN)
    assert [(step["id"], step["parent"], step["question"], step["route"]) for step in output["steps"]] == [
        ("1.1.1", "1.1", "left a", "generate"),
        ("1.1.2", "1.1", "left b", "generate"),
        ("1.1", "1", "left", "decompose"),
        ("1.2.1", "1.2", "right a", "retrieve"),
        ("1.2.2", "1.2", "right b", "retrieve"),
        ("1.2", "1", "right", "decompose"),
        ("1", None, "root", "decompose"),
    ]
    assert [step["score"] for step in output["steps"]] == [0.9, 0.9, 0.6, 0.1, 0.1, 0.6, 0.6]
    assert output["explanation"].splitlines() == [
        "combined from",
        "#1: left the answer to left",
        "#2: right the answer to right",
    ]
    assert output["answer"] == "the answer to root"
    assert output["confidence"] == 0.6
    assert notes(output) == {}


@pytest.mark.parametrize("run", RUNS)
def test_sixteen_parts_keep_their_order_whichever_is_answered_first(run: Run) -> None:
    parts = [f"part {i}" for i in range(16)]
    turn = threading.Semaphore(0)

    def script(prompt: str) -> Any:
        task, question = task_of(prompt)
        if task == "score_confidence" and question == "part 15":
            turn.release()
        if task == "score_confidence" and question == "part 0":
            turn.acquire(timeout=1)  # the first part waits for the last, where both may run at once
        return World({"root": 0.6}, {"root": parts})(prompt)

    (output,) = run(build(script), [{"question": "root"}])
    assert [step["question"] for step in output["steps"]] == [*parts, "root"]
    assert [step["id"] for step in output["steps"]] == [f"1.{i}" for i in range(1, 17)] + ["1"]
    pairs = [f"#{i}: {part} the answer to {part}" for i, part in enumerate(parts, 1)]
    assert output["explanation"].splitlines()[1:] == pairs


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 10])
@pytest.mark.parametrize("run", RUNS)
def test_questions_at_depth_t_are_retrieved_however_the_graph_is_run(depth: int, run: Run) -> None:
    def endless(prompt: str) -> Any:  # each question is half known and has one half-known part
        task, question = task_of(prompt)
        world = World({question: 0.2 if question.endswith("b") else 0.6})
        if task == "decompose":
            return as_reply([question + "a", question + "b"])
        return world(prompt)

    (output,) = run(build(endless, max_depth=depth), [{"question": "q"}])
    deepest = "1" + ".1" * depth
    assert len(output["steps"]) == 2 * depth + 1
    assert routes(output)[deepest] == "retrieve"
    assert notes(output) == {deepest: [f"depth {depth} reached: retrieved"]}
    mothers = {step["id"]: step["parent"] for step in output["steps"]}
    assert all(parent == (place.rpartition(".")[0] or None) for place, parent in mothers.items())


def test_a_part_that_is_divided_into_one_is_retrieved_and_the_rest_goes_on() -> None:
    output = ask(World({"root": 0.6, "left": 0.6}, {"root": ["left", "right"], "left": ["only"]}))
    assert routes(output) == {"1.1": "retrieve", "1.2": "generate", "1": "decompose"}
    assert notes(output) == {"1.1": ["not decomposed, only one sub-question: retrieved"]}


@pytest.mark.parametrize("run", [by_invoke, by_ainvoke])
def test_the_parts_of_a_question_are_answered_at_once(run: Run) -> None:
    meeting = threading.Barrier(4)
    world = World({"root": 0.6}, {"root": ["a", "b", "c", "d"]})

    def script(prompt: str) -> Any:
        if task_of(prompt)[0] == "read_passages":
            meeting.wait(timeout=60)  # each waits for the three others
        return world(prompt)

    (output,) = run(build(script), [{"question": "root"}])
    assert len(output["steps"]) == 5


def test_as_many_calls_as_allowed_are_in_flight_on_however_few_cores() -> None:
    meeting = threading.Barrier(16)
    world = World({"root": 0.6}, {"root": [f"part {i}" for i in range(16)]})

    def script(prompt: str) -> Any:
        if task_of(prompt)[0] == "read_passages":
            meeting.wait(timeout=60)  # asyncio's own threads are six on two cores
        return world(prompt)

    (output,) = by_ainvoke(build(script, max_concurrency=16), [{"question": "root"}])
    assert len(output["steps"]) == 17


@pytest.mark.parametrize("run", [by_invoke, by_ainvoke])
def test_the_parts_of_two_divided_parts_are_answered_at_once(run: Run) -> None:
    meeting = threading.Barrier(4)

    def script(prompt: str) -> Any:
        task, question = task_of(prompt)
        if task == "score_confidence" and question in ("left a", "left b", "right a", "right b"):
            meeting.wait(timeout=60)
        return SEVEN(prompt)

    (output,) = run(build(script), [{"question": "root"}])
    assert len(output["steps"]) == 7


def counted(prompts: list[str], shelf: Shelf) -> dict[str, int]:
    """The cost of these prompts, as ScriptedChat counts tokens: one a word."""
    written = [SEVEN(prompt) for prompt in prompts]
    return {
        "model_calls": len(prompts),
        "sequences": len(prompts),
        "input_tokens": sum(len(prompt.split()) for prompt in prompts),
        "output_tokens": sum(len(str(text).split()) for text in written),
        "retrievals": len(shelf.queries),
        "passages": sum(k for _, k in shelf.queries),
    }


@pytest.mark.parametrize("run", RUNS)
def test_the_cost_is_that_of_every_call_in_the_tree(run: Run) -> None:
    model, shelf = ScriptedChat(SEVEN), Shelf()
    (output,) = run(build(model, shelf), [{"question": "root"}])
    assert output["cost"] == counted(model.prompts, shelf)
    assert output["cost"]["model_calls"] == 19
    assert output["cost"]["retrievals"] == 2
    assert sorted(task for task, _ in tasks_of(model.prompts)) == sorted(
        ["score_confidence"] * 7
        + ["decompose"] * 3
        + ["combine"] * 3
        + ["generate_background"] * 2
        + ["read_passages"] * 4
    )


def test_fifty_questions_at_once_give_what_each_gives_alone() -> None:
    inputs = [{"question": name} for name in ("root", "left", "right", "left a", "right b")] * 10
    alone = by_invoke(build(SEVEN), inputs[:5]) * 10
    for run in (by_batch, by_abatch):
        outputs = run(build(SEVEN), inputs)
        assert [output["cost"] for output in outputs] == [output["cost"] for output in alone]
        assert outputs == alone


@pytest.mark.parametrize("run", [by_batch, by_abatch])
def test_the_bound_holds_over_the_trees_of_fifty_questions_and_is_reached(run: Run) -> None:
    model = ScriptedChat(World({"root": 0.6}, {"root": ["a", "b", "c", "d"]}), delay=0.01)
    outputs = run(build(model, max_concurrency=5), [{"question": "root"}] * 50)
    assert model.most_in_flight == 5
    assert {output["cost"]["model_calls"] for output in outputs} == {15}


@pytest.mark.parametrize("run", RUNS)
def test_one_call_at_a_time_is_enough_for_any_tree(run: Run) -> None:
    model = ScriptedChat(SEVEN)
    outputs = run(build(model, max_concurrency=1), [{"question": "root"}] * 3)
    assert model.most_in_flight == 1
    assert [len(output["steps"]) for output in outputs] == [7] * 3


@pytest.mark.parametrize("run", RUNS)
def test_a_model_that_fails_deep_in_the_tree_is_one_line(run: Run) -> None:
    broken = World(SEVEN.sure, SEVEN.parts, {("combine", "left"): ValueError("out of\nmemory")})
    with pytest.raises(ModelError, match=r"ScriptedChat failed .*out of memory") as failed:
        run(build(broken), [{"question": "root"}])
    assert "\n" not in str(failed.value)


def test_a_question_that_fails_in_a_batch_leaves_the_others_alone() -> None:
    broken = World(SEVEN.sure, SEVEN.parts, {("combine", "left"): ValueError("out of memory")})
    asked = [{"question": question} for question in ("root", "right", "left", "left a")]
    outputs = build(broken).batch(asked, return_exceptions=True)
    assert [isinstance(output, ModelError) for output in outputs] == [True, False, True, False]
    assert outputs[1] == ask(SEVEN, "right")


def test_a_second_question_in_a_thread_that_a_server_keeps_is_answered_afresh() -> None:
    world = World(SEVEN.sure, SEVEN.parts, {("combine", "right"): ValueError("out of memory")})
    alone = by_invoke(build(world), [{"question": question} for question in ("left", "right a", "left b")])
    kept = build(world).copy(update={"checkpointer": InMemorySaver()})
    thread: Any = {"configurable": {"thread_id": "1"}}
    assert [kept.invoke({"question": q}, thread) for q in ("left", "right a", "left b")] == alone
    with pytest.raises(ModelError):
        kept.invoke({"question": "root"}, thread)
    assert [kept.invoke({"question": q}, thread) for q in ("left", "right a", "left b")] == alone


def test_whoever_streams_sees_each_route_when_it_is_chosen() -> None:
    seen = [
        (event["id"], event["question"], event["route"], event["score"])
        for _, event in build(SEVEN).stream({"question": "root"}, stream_mode="custom", subgraphs=True)
    ]
    assert sorted(seen) == [
        ("1", "root", "decompose", 0.6),
        ("1.1", "left", "decompose", 0.6),
        ("1.1.1", "left a", "generate", 0.9),
        ("1.1.2", "left b", "generate", 0.9),
        ("1.2", "right", "decompose", 0.6),
        ("1.2.1", "right a", "retrieve", 0.1),
        ("1.2.2", "right b", "retrieve", 0.1),
    ]
    places = [place for place, *_ in seen]
    assert all(
        place == "1" or places.index(place.rpartition(".")[0]) < places.index(place) for place in places
    )


def test_whoever_streams_asynchronously_sees_the_same() -> None:
    async def streamed() -> list[str]:
        stream = build(SEVEN).astream({"question": "root"}, stream_mode="custom", subgraphs=True)
        return [event["id"] async for _, event in stream]

    assert sorted(asyncio.run(streamed())) == ["1", "1.1", "1.1.1", "1.1.2", "1.2", "1.2.1", "1.2.2"]


def test_a_question_that_is_retrieved_after_all_says_so_to_whoever_streams() -> None:
    stream = build(World({"q": 0.6}, {"q": "no"})).stream({"question": "q"}, stream_mode="custom")
    assert [event["route"] for event in stream] == ["decompose", "retrieve"]
