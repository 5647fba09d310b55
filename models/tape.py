"""The seam at which what comes through the door is recorded and played again.

A tape hangs in the context, where a run puts it before it asks a question: the door need not be told, and the
calls of questions that run side by side do not mix.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from knowwhen.models.cost import Cost
from knowwhen.models.evidence import Answer, Evidence, HiddenStates, Site
from knowwhen.models.faults import shortened
from knowwhen.models.gathering import Prompt, messages_of
from knowwhen.models.reply import Reply, Retrieved

Array = NDArray[Any]
Packed = tuple[Any, list[Array]]  # JSON, and the arrays that JSON would bloat
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """What is asked of a model or of a retriever.

    Two calls with one key are the same question asked again: which of them gets which reply does not matter.
    """

    what: str
    """`ask`, `sample` or `retrieve`."""
    prompts: tuple[Prompt, ...]
    parameters: Mapping[str, Any]
    """All that the reply depends on besides, in JSON."""

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits."""
        turns = [[[turn.type, str(turn.text)] for turn in messages_of(each)] for each in self.prompts]
        told = json.dumps([self.what, turns, self.parameters], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    def __str__(self) -> str:
        """On one line, for errors."""
        last = str(messages_of(self.prompts[-1])[-1].text) if self.prompts else ""
        how = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.what} {shortened(repr(last))} ({how})"


class Form(Protocol[T]):
    """How a kind of reply is written down and read again."""

    def pack(self, reply: T) -> Packed:
        """The reply as JSON and arrays."""

    def unpack(self, call: Call, packed: Packed) -> T:
        """The reply to a call."""


class Tape(Protocol):
    """Stands between a door and its model and retriever while a question is answered; threads share it."""

    def reply(self, call: Call, form: Form[T], make: Callable[[], T]) -> T:
        """The reply to a call: made now, or made before."""


TAPE: ContextVar[Tape | None] = ContextVar("tape", default=None)


def taped(call: Call, form: Form[T], make: Callable[[], T]) -> T:
    """The reply to a call, by way of the tape that hangs in the context, if any does."""
    tape = TAPE.get()
    return make() if tape is None else tape.reply(call, form, make)


def _plain(value: Any) -> Any:
    """What metadata may hold besides JSON: numpy's scalars become numbers, all else text."""
    return value.item() if isinstance(value, np.generic) else str(value)


class _Plain(Form[T]):
    """A reply that is JSON but for its types."""

    def __init__(self, kind: type[T]) -> None:
        self._adapter = TypeAdapter(kind)

    def pack(self, reply: T) -> Packed:
        return self._adapter.dump_python(reply, mode="json", fallback=_plain), []

    def unpack(self, call: Call, packed: Packed) -> T:
        return self._adapter.validate_python(packed[0])


@dataclass(frozen=True)
class _Shown:
    """Evidence without its states, and without its prompt, which the call tells."""

    greedy: Answer | None
    samples: tuple[Answer, ...]
    cost: Cost | None
    states_at: tuple[int, Site] | None


class _Evidence(Form[list[Evidence]]):
    """Evidence, whose hidden states are arrays."""

    def __init__(self) -> None:
        self._adapter = TypeAdapter(list[_Shown])

    def pack(self, reply: list[Evidence]) -> Packed:
        shown = [
            _Shown(
                each.greedy,
                each.samples,
                each.cost,
                (each.states.layer, each.states.site) if each.states else None,
            )
            for each in reply
        ]
        arrays = [each.states.values for each in reply if each.states]
        return self._adapter.dump_python(shown, mode="json"), arrays

    def unpack(self, call: Call, packed: Packed) -> list[Evidence]:
        arrays = iter(packed[1])
        return [
            Evidence(
                prompt="\n\n".join(str(turn.text) for turn in messages_of(prompt)),
                greedy=each.greedy,
                samples=each.samples,
                states=HiddenStates(next(arrays), *each.states_at) if each.states_at else None,
                cost=each.cost,
            )
            for prompt, each in zip(call.prompts, self._adapter.validate_python(packed[0]), strict=True)
        ]


REPLY = _Plain(Reply)
RETRIEVED = _Plain(Retrieved)
EVIDENCE = _Evidence()
