"""A node runs both ways: called in `invoke`, and in the door's threads in `ainvoke`.

A node that were only synchronous would run in asyncio's own pool under `ainvoke`, which has six threads on
two cores, fewer than the model calls that may be in flight.
"""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import ensure_config, var_child_runnable_config

from knowwhen.models.calling_off import CALLED_OFF
from knowwhen.models.door import Door
from knowwhen.nodes.handlers import on_their_loop
from knowwhen.nodes.state import State

Update = dict[str, Any]
S = TypeVar("S", bound=State)  # a method's own state


class Node(RunnableLambda[State, Update]):
    """Two forms of one step, called as they are.

    A RunnableLambda reads their signatures and announces itself to callbacks at each call, which LangGraph
    has done already; left out, a graph's own time is a fifth shorter. It stays one by type, as LangGraph
    looks into those for subgraphs.
    """

    def __init__(
        self, step: Callable[[Any], Update], astep: Callable[[Any], Awaitable[Update]], name: str
    ) -> None:
        super().__init__(step, afunc=astep, name=name)
        self.step, self.astep = step, astep

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the synchronous form; the surrounding run's config is in the context."""
        return self.step(input)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the asynchronous form."""
        return await self.astep(input)


def as_node(door: Door, step: Callable[[S], Update]) -> Node:
    """A graph's node from a plain function of the state, whose calls go through this door."""

    async def astep(state: S) -> Update:
        loop, called_off = asyncio.get_running_loop(), threading.Event()
        run = contextvars.copy_context().run  # callbacks, streams and the run's settings travel along
        run(CALLED_OFF.set, called_off)
        run(var_child_runnable_config.set, on_their_loop(ensure_config(), loop))
        try:
            return await loop.run_in_executor(door.threads, run, step, state)
        except asyncio.CancelledError:
            called_off.set()
            raise

    return Node(step, astep, step.__name__)
