"""A run that is cancelled asks nothing more and keeps nothing waiting, whatever its threads were doing."""

import asyncio
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from method_worlds import WORLDS
from scripted import ScriptedChat
from self_dc_script import Shelf

from knowwhen.graphs import direct
from knowwhen.models.calling_off import CALLED_OFF, left_alone, result_of

LONG = ["self_dc", "keqa", "seakr", "taikc"]


class Busy(Exception):
    """As a client's error: a server that wants to be left alone for some seconds."""

    status_code = 429

    def __init__(self, seconds: float) -> None:
        super().__init__("busy")
        self.response = type("Response", (), {"headers": {"retry-after": str(seconds)}})()


@pytest.mark.parametrize("way", ["ainvoke", "astream", "abatch"])
@pytest.mark.parametrize("name", LONG)
def test_a_cancelled_run_asks_nothing_more(name: str, way: str) -> None:
    world = WORLDS[name]
    model = world.model(world.script)
    model.delay = 0.1
    graph: Any = world.build(model, Shelf(), max_concurrency=2)

    async def run(asked: Any) -> None:
        if way == "astream":
            async for _ in graph.astream(asked):
                pass
        else:
            await (graph.ainvoke(asked) if way == "ainvoke" else graph.abatch([asked]))

    async def cancelled() -> tuple[int, int]:
        running = asyncio.create_task(run({"question": world.question}))
        while len(model.prompts) < 2:
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        asked = len(model.prompts)
        await asyncio.sleep(0.5)
        return asked, len(model.prompts)

    asked, later = asyncio.run(cancelled())
    assert asked == later < world.calls


def test_a_process_ends_whose_run_was_cancelled_while_it_waited_to_try_again(tmp_path: Path) -> None:
    code = """
        import asyncio
        from scripted import ScriptedChat
        from test_embedding_cancelled import Busy
        from knowwhen import direct

        def busy(prompt):
            raise Busy(60)

        async def main():
            try:
                await asyncio.wait_for(direct(ScriptedChat(busy)).ainvoke({"question": "q"}), 2)
            except asyncio.TimeoutError:
                print("timed out")

        asyncio.run(main())
    """
    command = [sys.executable, "-c", dedent(code)]
    here = Path(__file__).parent
    ended = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=50, check=True)
    assert ended.stdout == "timed out\n"


@pytest.mark.filterwarnings("error")
def test_nothing_is_written_to_a_loop_that_has_ended(tmp_path: Path) -> None:
    world = WORLDS["keqa"]
    model = world.model(world.script)
    model.delay = 0.2

    async def cancelled() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite")) as saver:
            kept: Any = world.build(model, Shelf()).copy(update={"checkpointer": saver})
            asked = kept.ainvoke({"question": world.question}, {"configurable": {"thread_id": "1"}})
            running = asyncio.create_task(asked)
            while len(model.prompts) < 3:
                await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(cancelled())
    time.sleep(0.3)  # for the replies that were under way


def test_what_never_ends_is_left_alone_once_the_run_is_called_off() -> None:
    called_off, begun, never = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        never.wait(30)

    async def run() -> None:
        CALLED_OFF.set(called_off)
        waiting = asyncio.create_task(asyncio.to_thread(left_alone, work))
        await asyncio.to_thread(begun.wait)
        called_off.set()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(waiting, 20)

    asyncio.run(run())
    never.set()


def test_what_ends_with_its_loop_ends_who_waits_for_it() -> None:
    """As an `Exception` LangChain would take it for a handler's fault, and go on to ask."""
    future = Future[None]()
    future.cancel()
    with pytest.raises(asyncio.CancelledError):
        result_of(future)


def test_a_call_that_waits_to_be_tried_again_lets_others_pass() -> None:
    failed: list[str] = []

    def script(prompt: str) -> str:
        if "slow" in prompt and not failed:
            failed.append(prompt)
            raise Busy(1)
        return "Zeno"

    graph = direct(ScriptedChat(script), max_concurrency=1)
    ended: list[str] = []

    async def ask(question: str) -> None:
        await graph.ainvoke({"question": question})
        ended.append(question)

    async def both() -> None:
        await asyncio.gather(ask("slow"), ask("quick"))

    asyncio.run(both())
    assert ended == ["quick", "slow"]
