"""Every way to run a LangChain runnable gives a method's one output, alone and among other runnables."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import ConfigurableField, Runnable, RunnableLambda, RunnableParallel
from langchain_core.runnables.base import RunnableSequence
from method_worlds import WORLDS
from self_dc_script import Shelf

from knowwhen.graphs import METHODS, Method

Output = dict[str, Any]


def graph_of(name: str) -> Method:
    world = WORLDS[name]
    return world.build(world.model(world.script), Shelf())


def asked(name: str) -> Any:
    return {"question": WORLDS[name].question}


def by_ainvoke(graph: Any, question: Any) -> Output:
    output: Output = asyncio.run(graph.ainvoke(question))
    return output


def by_batch(graph: Any, question: Any) -> Output:
    one, two, three = graph.batch([question] * 3)
    assert one == two == three
    output: Output = one
    return output


def by_batch_as_completed(graph: Any, question: Any) -> Output:
    outputs = dict(graph.batch_as_completed([question] * 2))
    assert outputs[0] == outputs[1]
    output: Output = outputs[0]
    return output


def by_abatch(graph: Any, question: Any) -> Output:
    one, two, three = asyncio.run(graph.abatch([question] * 3))
    assert one == two == three
    output: Output = one
    return output


def by_stream(graph: Any, question: Any) -> Output:
    *_, last = graph.stream(question, stream_mode="values")
    return dict(last)


def by_astream(graph: Any, question: Any) -> Output:
    async def last() -> Any:
        return [each async for each in graph.astream(question, stream_mode="values")][-1]

    return dict(asyncio.run(last()))


def by_astream_events(graph: Any, question: Any) -> Output:
    async def events() -> list[Any]:
        return [event async for event in graph.astream_events(question, version="v2")]

    seen = asyncio.run(events())
    assert sum(event["event"] == "on_chat_model_end" for event in seen)
    root = [event for event in seen if not event["parent_ids"] and event["event"] == "on_chain_end"]
    (end,) = root
    output: Output = end["data"]["output"]
    return output


def through_pipes(graph: Any, question: Any) -> Output:
    pipe = RunnableLambda(lambda text: {"question": text}) | graph | RunnableLambda(lambda output: output)
    assert isinstance(pipe, RunnableSequence)
    output: Output = pipe.invoke(question["question"])
    return output


def through_an_asynchronous_pipe(graph: Any, question: Any) -> Output:
    pipe = RunnableLambda(lambda text: {"question": text}) | graph
    (output,) = asyncio.run(pipe.abatch([question["question"]]))
    return dict(output)


def chain_of(graph: Any) -> Any:
    return (
        RunnableLambda(lambda text: {"question": text}) | graph | RunnableLambda(lambda output: dict(output))
    )


def by_streaming_a_pipe(graph: Any, question: Any) -> Output:
    (output,) = chain_of(graph).stream(question["question"])
    return dict(output)


def by_streaming_an_asynchronous_pipe(graph: Any, question: Any) -> Output:
    async def pieces() -> Any:
        return [piece async for piece in chain_of(graph).astream(question["question"])]

    (output,) = asyncio.run(pieces())
    return dict(output)


def by_a_pipes_events(graph: Any, question: Any) -> Output:
    return by_astream_events(chain_of(graph), question["question"])


def by_streaming_a_pipe_with_fallbacks(graph: Any, question: Any) -> Output:
    return by_streaming_a_pipe(graph.with_fallbacks([graph]), question)


def by_streaming_a_pipe_with_retries(graph: Any, question: Any) -> Output:
    return by_streaming_an_asynchronous_pipe(graph.with_retry(), question)


def by_streaming_a_pipe_of_values(graph: Any, question: Any) -> Output:
    return by_streaming_a_pipe(graph.bind(stream_mode="values"), question)


def by_streaming_what_is_picked(graph: Any, question: Any) -> Output:
    output: Output = graph.invoke(question)
    assert list(graph.pick("answer").stream(question)) == [output["answer"]]
    assert list(graph.pick("answer").stream(question)) == [graph.pick("answer").invoke(question)]
    *_, last = graph.assign(more=lambda told: len(told["steps"])).stream(question)
    assert last == {"more": len(output["steps"])}
    return output


def from_a_streamed_input_in_pieces(graph: Any, question: Any) -> Output:
    pieces = RunnableParallel(
        question=RunnableLambda(lambda asked: asked["question"]), user=lambda asked: "7"
    )
    (output,) = (pieces | graph).stream(question)
    return dict(output)


def in_parallel(graph: Any, question: Any) -> Output:
    both = RunnableParallel(one=graph, two=graph).invoke(question)
    assert both["one"] == both["two"]
    output: Output = both["one"]
    return output


WAYS: list[Callable[[Any, Any], Output]] = [
    by_ainvoke,
    by_batch,
    by_batch_as_completed,
    by_abatch,
    by_stream,
    by_astream,
    by_astream_events,
    through_pipes,
    through_an_asynchronous_pipe,
    by_streaming_a_pipe,
    by_streaming_an_asynchronous_pipe,
    by_a_pipes_events,
    by_streaming_a_pipe_with_fallbacks,
    by_streaming_a_pipe_with_retries,
    by_streaming_a_pipe_of_values,
    by_streaming_what_is_picked,
    from_a_streamed_input_in_pieces,
    in_parallel,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", METHODS)
def test_every_way_gives_the_same_output(name: str, way: Callable[[Any, Any], Output]) -> None:
    output = graph_of(name).invoke(asked(name))
    assert output["answer"] == WORLDS[name].answer
    told = way(graph_of(name), asked(name))
    told = {field: told[field] for field in output}  # a stream of values shows the whole state
    assert told == json.loads(json.dumps(told)) == output


@pytest.mark.parametrize("name", METHODS)
def test_updates_stream_while_the_tree_grows(name: str) -> None:
    graph = graph_of(name)
    nodes = [node for update in graph.stream(asked(name), stream_mode="updates") for node in update]
    assert set(nodes) <= set(graph.get_graph().nodes)
    inside = [
        (namespace, node)
        for namespace, update in graph.stream(asked(name), stream_mode="updates", subgraphs=True)
        for node in update
    ]
    assert sorted(node for namespace, node in inside if not namespace) == sorted(nodes)
    assert any(namespace for namespace, _ in inside) == (name in ("self_dc", "keqa", "seakr", "taikc"))


@pytest.mark.parametrize("name", METHODS)
def test_the_steps_of_the_longest_run_fit_where_langchain_allows_25(name: str) -> None:
    """Through `batch` or a pipe every level of a graph may take 25 supersteps; none here comes near."""
    supersteps: dict[str, int] = {}
    for namespace, update in graph_of(name).stream(asked(name), stream_mode="debug", subgraphs=True):
        level = "|".join(namespace)
        supersteps[level] = max(supersteps.get(level, 0), update["step"])
    assert 0 < max(supersteps.values()) < 25


@pytest.mark.parametrize("name", ["self_dc", "keqa", "seakr", "taikc"])
def test_each_questions_route_is_streamed_as_it_is_chosen(name: str) -> None:
    stream = graph_of(name).stream(asked(name), stream_mode="custom", subgraphs=True)
    told = {progress["id"]: progress["route"] for _, progress in stream}
    steps = {step["id"]: step["route"] for step in graph_of(name).invoke(asked(name))["steps"]}
    unchosen = {"1", "1.4", "1.5"} if name == "seakr" else set()  # the final answers
    assert told == {id: route for id, route in steps.items() if id not in unchosen}


def test_streamed_alone_a_method_tells_what_its_nodes_do_as_ever() -> None:
    pieces = list(graph_of("retrieve_then_read").stream(asked("retrieve_then_read")))
    assert [list(piece) for piece in pieces] == [["retrieve"], ["read_passages"]]


def test_a_method_is_chosen_at_run_time() -> None:
    """As LangChain's `configurable_alternatives` lets a caller do."""
    which: Runnable[Any, Any] = (
        graph_of("direct")
        .bind()
        .configurable_alternatives(
            ConfigurableField(id="method"),
            default_key="direct",
            retrieve_then_read=graph_of("retrieve_then_read"),
        )
    )
    assert which.invoke(asked("direct"))["steps"][0]["route"] == "direct"
    chosen = which.with_config(configurable={"method": "retrieve_then_read"})
    assert chosen.invoke(asked("direct"))["steps"][0]["route"] == "retrieve"
