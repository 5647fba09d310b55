"""Patience with a server: try again what may pass, at the pace it asks for, and give up in one line."""

import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from knowwhen.models.calling_off import pause
from knowwhen.models.errors import KnowwhenError
from knowwhen.models.faults import Fault, fault_of

FIRST_PAUSE = 0.5  # seconds before the second attempt; doubles with each further one
LONGEST_PAUSE = 20.0  # seconds

Answer = TypeVar("Answer")


def patiently(
    request: Callable[[], Answer], max_attempts: int, give_up: Callable[[Fault, int], KnowwhenError]
) -> Answer:
    """Call `request` until it answers, at most `max_attempts` times.

    Only what may pass is tried again: 408, 409, 429, server failures, lost connections and time-outs. The
    pauses double, each shortened at random by up to half so that callers who failed together do not return
    together; a Retry-After header is waited for instead. An interrupt ends the pause and the call at once, as
    does calling off the run.

    Args:
        request: the one request, without side effects of its own.
        max_attempts: 1 or more.
        give_up: makes the error to raise from the last fault and the number of attempts made.

    Raises:
        KnowwhenError: what `give_up` made; or the request's own, which is passed on untouched.
    """
    retrying = Retrying(**_how(max_attempts), sleep=pause)
    try:
        return retrying(request)
    except KnowwhenError:
        raise
    except Exception as error:  # clients of servers share no base class
        raise give_up(fault_of(error), retrying.statistics["attempt_number"]) from error


async def apatiently(
    request: Callable[[], Awaitable[Answer]],
    max_attempts: int,
    give_up: Callable[[Fault, int], KnowwhenError],
) -> Answer:
    """The same of a request that is awaited."""
    retrying = AsyncRetrying(**_how(max_attempts))

    async def asked() -> Answer:  # tenacity awaits only what it knows for a coroutine's function
        return await request()

    try:
        return await retrying(asked)
    except KnowwhenError:
        raise
    except Exception as error:
        raise give_up(fault_of(error), retrying.statistics["attempt_number"]) from error


def _how(max_attempts: int) -> dict[str, Any]:
    return {
        "stop": stop_after_attempt(max_attempts),
        "retry": retry_if_exception(_may_pass),
        "wait": _pause,
        "reraise": True,
    }


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, Exception) and not isinstance(error, KnowwhenError) and fault_of(error).passing


def _pause(state: RetryCallState) -> float:
    """Seconds until the next attempt."""
    error = state.outcome.exception() if state.outcome else None
    asked = fault_of(error).wait if error else None
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (state.attempt_number - 1))
    if asked is not None:
        return asked + random.uniform(0, FIRST_PAUSE)
    return random.uniform(pause / 2, pause)
