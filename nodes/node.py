"""A node runs both ways: called in `invoke`, and in the door's threads in `ainvoke`.

A node that were only synchronous would run in asyncio's own pool under `ainvoke`, which has six threads on
two cores, fewer than the model calls that may be in flight.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda

from knowwhen.models.door import Door
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
        run = contextvars.copy_context().run  # callbacks, streams and the run's settings travel along
        return await asyncio.get_running_loop().run_in_executor(door.threads, run, step, state)

    return Node(step, astep, step.__name__)
