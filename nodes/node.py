"""A node runs both ways: called in `invoke`, and in the door's threads in `ainvoke`.

A node that were only synchronous would run in asyncio's own pool under `ainvoke`, which has six threads on
two cores, fewer than the model calls that may be in flight.
"""

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda

from knowwhen.models.door import Door
from knowwhen.nodes.state import State

Update = dict[str, Any]
Node = Runnable[State, Update]


def as_node(door: Door, step: Callable[[State], Update]) -> Node:
    """A graph's node from a plain function of the state, whose calls go through this door."""

    async def astep(state: State) -> Update:
        run = contextvars.copy_context().run  # callbacks, streams and the run's settings travel along
        return await asyncio.get_running_loop().run_in_executor(door.threads, run, step, state)

    return RunnableLambda(step, afunc=astep, name=step.__name__)
