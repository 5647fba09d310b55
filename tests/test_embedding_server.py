"""A ChatOpenAI of the user's own, at a server of another address: its tokens are counted, streamed or not."""

import asyncio
import warnings
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from method_worlds import WORLDS
from openai_server import Server, serve
from self_dc_script import Shelf


def model_at(server: Server, **fields: Any) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=server.base_url,
        api_key="x",  # type: ignore[arg-type]
        model="tiny",
        max_retries=0,
        use_responses_api=False,
        **fields,
    )


def by_messages(graph: Any, asked: Any) -> Any:
    streamed = list(graph.stream(asked, stream_mode=["messages", "values"]))
    assert any(mode == "messages" for mode, _ in streamed)
    return streamed[-1][1]["cost"]


def by_events(graph: Any, asked: Any) -> Any:
    async def events() -> list[Any]:
        return [event async for event in graph.astream_events(asked, version="v2")]

    *_, last = asyncio.run(events())
    return last["data"]["output"]["cost"]


@pytest.mark.parametrize("run", [by_messages, by_events])
@pytest.mark.parametrize("name", ["direct", "generate_then_read", "self_dc"])
def test_a_streamed_run_costs_what_any_other_costs(name: str, run: Any) -> None:
    world = WORLDS[name]
    asked = {"question": world.question}
    with serve(world.model(world.script)) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = world.build(model_at(server), Shelf())
        cost = graph.invoke(asked)["cost"]
        before = len(server.requests)
        assert cost["input_tokens"] > 0 and cost["output_tokens"] > 0
        assert run(graph, asked) == cost
        assert all(request.body.get("stream") for request in server.requests[before:])


def test_who_wants_no_usage_in_a_stream_is_not_overruled() -> None:
    world = WORLDS["direct"]
    with serve(world.model(world.script)) as server:
        graph = world.build(model_at(server, stream_usage=False), Shelf())
        with pytest.warns(UserWarning, match="reports no token usage"):
            by_messages(graph, {"question": world.question})
        assert "stream_options" not in server.requests[0].body
