"""What LangChain's callbacks and usage tracking see of a method: every call, under the run it belongs to."""

import asyncio
import threading
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler, get_usage_metadata_callback
from method_worlds import WORLDS
from self_dc_script import Shelf

from knowwhen.graphs import METHODS, Method

HALF_KNOWN: Any = {"question": "Which person starred in Skirn Vlurk and directed Thimis Plolm?"}
TOLD: Any = {"tags": ["mine"], "metadata": {"customer": "7"}, "run_name": "my run"}


class Watching(BaseCallbackHandler):
    """Notes every run by its id: its parent, kind, tags and metadata."""

    def __init__(self) -> None:
        self.runs: dict[UUID, dict[str, Any]] = {}
        self.ended: set[UUID] = set()
        self._lock = threading.Lock()

    def begin(self, kind: str, run_id: UUID, told: dict[str, Any]) -> None:
        with self._lock:
            self.runs[run_id] = {"kind": kind, **told}

    def on_chain_start(self, *args: Any, run_id: UUID, **told: Any) -> None:
        self.begin("chain", run_id, told)

    def on_chat_model_start(self, *args: Any, run_id: UUID, **told: Any) -> None:
        self.begin("model", run_id, told)

    def on_retriever_start(self, *args: Any, run_id: UUID, **told: Any) -> None:
        self.begin("retriever", run_id, told)

    def on_llm_end(self, *args: Any, run_id: UUID, **told: Any) -> None:
        self.ended.add(run_id)

    def on_retriever_end(self, *args: Any, run_id: UUID, **told: Any) -> None:
        self.ended.add(run_id)

    def of(self, kind: str) -> dict[UUID, dict[str, Any]]:
        return {run_id: run for run_id, run in self.runs.items() if run["kind"] == kind}

    def ancestors(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        parent = self.runs.get(run["parent_run_id"])
        return [] if parent is None else [parent, *self.ancestors(parent)]


def graph_of(name: str) -> Method:
    world = WORLDS[name]
    return world.build(world.model(world.script), Shelf())


def run(graph: Method, asked: Any, config: Any, way: str) -> Any:
    if way == "invoke":
        return graph.invoke(asked, config)
    if way == "ainvoke":
        return asyncio.run(graph.ainvoke(asked, config))
    (output,) = graph.batch([asked], [config])
    return output


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
@pytest.mark.parametrize("name", METHODS)
def test_callbacks_see_every_model_and_retriever_call_under_the_callers_run(name: str, way: str) -> None:
    world, watching = WORLDS[name], Watching()
    asked: Any = {"question": world.question}
    output = run(graph_of(name), asked, {**TOLD, "callbacks": [watching]}, way)
    assert len(watching.of("model")) == output["cost"]["model_calls"] == world.calls
    assert len(watching.of("retriever")) == output["cost"]["retrievals"] == world.looked_up
    calls = watching.of("model") | watching.of("retriever")
    assert watching.ended == set(calls)
    for call in calls.values():
        assert watching.ancestors(call)[-1]["name"] == "my run"
        assert "mine" in call["tags"]
        assert call["metadata"]["customer"] == "7"
        assert call["metadata"]["langgraph_node"] in graph_nodes(name)


def graph_nodes(name: str) -> set[str]:
    return {node.rpartition(":")[2] for node in graph_of(name).get_graph(xray=True).nodes}


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
@pytest.mark.parametrize("name", METHODS)
def test_usage_tracking_sees_the_tokens_that_the_cost_reports(name: str, way: str) -> None:
    """With the pocket model, a real one: several samples of one request are counted once."""
    graph = METHODS[name]()
    with get_usage_metadata_callback() as usage:
        output = run(graph, HALF_KNOWN, None, way)
    (told,) = usage.usage_metadata.values()
    cost = output["cost"]
    assert cost["input_tokens"] > 0 and cost["output_tokens"] > 0
    assert (told["input_tokens"], told["output_tokens"]) == (cost["input_tokens"], cost["output_tokens"])


@pytest.mark.parametrize("name", METHODS)
def test_with_the_pocket_model_too_every_call_is_seen(name: str) -> None:
    watching = Watching()
    cost = run(METHODS[name](), HALF_KNOWN, {"callbacks": [watching]}, "invoke")["cost"]
    assert len(watching.of("model")) == cost["model_calls"]
    assert len(watching.of("retriever")) == cost["retrievals"]
    assert watching.ended == set(watching.of("model") | watching.of("retriever"))


class OnTheCallersLoop(AsyncCallbackHandler):
    """Holds what belongs to a loop, as one that writes to a web socket does."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.lock, self.told = asyncio.Lock(), asyncio.Queue[str]()

    async def tell(self, event: str) -> None:
        assert asyncio.get_running_loop() is self.loop
        async with self.lock:
            await asyncio.sleep(0)
            await self.told.put(event)

    async def on_chat_model_start(self, *args: Any, **told: Any) -> None:
        await self.tell("model")

    async def on_llm_end(self, *args: Any, **told: Any) -> None:
        await self.tell("end")

    async def on_retriever_start(self, *args: Any, **told: Any) -> None:
        await self.tell("retriever")


@pytest.mark.parametrize("name", METHODS)
def test_asynchronous_handlers_run_in_the_callers_loop(name: str) -> None:
    world = WORLDS[name]

    async def main() -> list[str]:
        handler = OnTheCallersLoop()
        handler.raise_error = True
        await graph_of(name).ainvoke({"question": world.question}, {"callbacks": [handler]})
        return [handler.told.get_nowait() for _ in range(handler.told.qsize())]

    told = asyncio.run(main())
    assert told.count("model") == told.count("end") == world.calls
    assert told.count("retriever") == world.looked_up


class Endless(AsyncCallbackHandler):
    async def on_chat_model_start(self, *args: Any, **told: Any) -> None:
        await asyncio.Event().wait()


def test_a_handler_that_never_ends_can_be_cancelled() -> None:
    world = WORLDS["direct"]
    model = world.model(world.script)

    async def main() -> None:
        asked: Any = {"question": world.question}
        run = world.build(model, Shelf()).ainvoke(asked, {"callbacks": [Endless()]})
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run, 0.3)

    asyncio.run(main())
    assert model.prompts == []


class Streaming(AsyncCallbackHandler):
    """Two kinds of handlers, told of by one run: what LangChain streams by goes on beside others."""

    def __init__(self) -> None:
        self.started = 0

    async def on_chat_model_start(self, *args: Any, **told: Any) -> None:
        self.started += 1


def test_events_are_streamed_beside_an_asynchronous_handler() -> None:
    async def main() -> tuple[int, int]:
        handler = Streaming()
        events: Any = graph_of("keqa").astream_events(
            {"question": WORLDS["keqa"].question}, {"callbacks": [handler]}, version="v2"
        )
        started = [event async for event in events if event["event"] == "on_chat_model_start"]
        return len(started), handler.started

    assert asyncio.run(main()) == (WORLDS["keqa"].calls, WORLDS["keqa"].calls)
