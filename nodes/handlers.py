"""Asynchronous callback handlers of a run whose nodes work in threads.

LangChain would run each of their coroutines in a new loop, in the thread. Whatever a handler holds, a lock, a
queue, a connection, belongs to the loop of the run, so they run there and the thread waits.
"""

import asyncio
import inspect
from typing import Any

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackManager
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from knowwhen.models.calling_off import go_on, result_of


def on_their_loop(config: RunnableConfig, loop: asyncio.AbstractEventLoop) -> RunnableConfig:
    """A config whose asynchronous handlers can be called from a thread."""
    callbacks = config.get("callbacks")
    if not isinstance(callbacks, BaseCallbackManager) or not any(map(_belongs, callbacks.handlers)):
        return config
    manager = callbacks.copy()
    manager.handlers = [_called(each, loop) for each in callbacks.handlers]
    manager.inheritable_handlers = [_called(each, loop) for each in callbacks.inheritable_handlers]
    return {**config, "callbacks": manager}


def _belongs(handler: Any) -> bool:
    # What LangChain and LangGraph stream by is known to models by its type, and can be called from anywhere.
    return isinstance(handler, AsyncCallbackHandler) and not isinstance(handler, _StreamingCallbackHandler)


def _called(handler: Any, loop: asyncio.AbstractEventLoop) -> Any:
    return _OnLoop(handler, loop) if _belongs(handler) else handler


class _OnLoop:
    """A handler like the one it stands for, but for its coroutines."""

    def __init__(self, handler: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._handler, self._loop = handler, loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._handler, name)
        if not inspect.iscoroutinefunction(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            go_on()
            return result_of(asyncio.run_coroutine_threadsafe(found(*args, **kwargs), self._loop))

        return call
