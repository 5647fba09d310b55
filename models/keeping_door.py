"""Replies kept beside a graph's checkpoint, so that a node killed among its calls asks none of them again.

LangGraph keeps what a node wrote, once the node is done. One that makes several calls, an answer and its
samples or a verdict on each of ten passages, would ask all of them again if it was killed before the last
was answered. So every reply is written as soon as it is there, as LangGraph itself keeps the results of its
tasks: as a write that belongs to the checkpoint, under a task of its own, which nothing else reads.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar
from uuid import UUID, uuid5

from langchain_core.runnables.config import RunnableConfig, ensure_config
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.runtime import ExecutionInfo, get_runtime

from knowwhen.models.calling_off import left_alone
from knowwhen.models.door import Door
from knowwhen.models.evidence import Evidence
from knowwhen.models.gathering import Prompt
from knowwhen.models.reply import Reply
from knowwhen.models.sample_request import SampleRequest, stopping
from knowwhen.models.sampling import Sampling
from knowwhen.models.tape import EVIDENCE, REPLY, Call, Form

CHANNEL = "knowwhen_reply"
# How LangGraph hands these down to the graphs inside a graph; none has a public name.
SAVER, RESUMING, DURABILITY = "__pregel_checkpointer", "__pregel_resuming", "__pregel_durability"

T = TypeVar("T")


class KeepingDoor(Door):
    """A door that keeps every reply of the model in the checkpointer of the graph that asks, if there is one.

    A checkpointer that can only be written to asynchronously keeps none, nor does a run of durability "exit".
    """

    def _ask(self, prompt: Prompt, sampling: Sampling, stop: Sequence[str] | None) -> Reply:
        call = Call("ask", (prompt,), sampling.given() | stopping(stop))
        return _kept(call, REPLY, partial(super()._ask, prompt, sampling, stop))

    def _sample(self, wanted: SampleRequest) -> list[Evidence]:
        _shelf()  # before its requests part into threads, which are to share one
        return super()._sample(wanted)

    def _sample_inside(self, wanted: SampleRequest) -> list[Evidence]:
        return _kept(wanted.call, EVIDENCE, partial(super()._sample_inside, wanted))


def _kept(call: Call, form: Form[T], make: Callable[[], T]) -> T:
    """The reply to a call: made now and kept, or kept by an earlier run of the same node that did not end."""
    shelf = _shelf()
    return make() if shelf is None else shelf.reply(call, form, make)


class _Shelf:
    """The replies of one run of a node. Threads share it."""

    def __init__(
        self, saver: BaseCheckpointSaver[Any], where: RunnableConfig, task: str, again: bool
    ) -> None:
        self.task, self._saver, self._where = task, saver, where
        self._lock, self._asked = threading.Lock(), Counter[str]()
        self._found = self._left_behind() if again else {}

    def reply(self, call: Call, form: Form[T], make: Callable[[], T]) -> T:
        """The reply to a call, found or made."""
        with self._lock:
            self._asked[call.key] += 1  # the same may be asked again, for another sample
            place = str(uuid5(UUID(self.task), f"{call.key} {self._asked[call.key]}"))
        if place in self._found:
            return form.unpack(call, self._found[place])
        reply = make()
        kept = [(CHANNEL, form.pack(reply))]
        left_alone(lambda: self._saver.put_writes(self._where, kept, place))
        return reply

    def _left_behind(self) -> dict[str, Any]:
        saved = left_alone(lambda: self._saver.get_tuple(self._where))
        writes = saved.pending_writes if saved and saved.pending_writes else ()
        return {place: value for place, channel, value in writes if channel == CHANNEL}


_SHELF: ContextVar[_Shelf | None] = ContextVar("shelf", default=None)


def _shelf() -> _Shelf | None:
    """That of the node which is running."""
    given = ensure_config().get("configurable", {})
    saver = given.get(SAVER)
    if not isinstance(saver, BaseCheckpointSaver) or type(saver).put_writes is BaseCheckpointSaver.put_writes:
        return None
    if given.get(DURABILITY) == "exit":  # no checkpoint is written that a reply could belong to
        return None
    node = get_runtime().execution_info
    if node is None or node.thread_id is None:
        return None
    shelf = _SHELF.get()
    if shelf is None or shelf.task != node.task_id:
        shelf = _Shelf(saver, _checkpoint_of(node), node.task_id, again=bool(given.get(RESUMING)))
        _SHELF.set(shelf)
    return shelf


def _checkpoint_of(node: ExecutionInfo) -> RunnableConfig:
    """The checkpoint of the graph that a node is in; the node's own namespace ends in the node."""
    return {
        "configurable": {
            "thread_id": node.thread_id,
            "checkpoint_ns": node.checkpoint_ns.rpartition("|")[0],
            "checkpoint_id": node.checkpoint_id,
        }
    }
