"""What a piece of work costs the processor, for tests of how that grows."""

import gc
import time
from collections.abc import Callable

ROUNDS = 3
LEAST = 0.001  # seconds; what takes less cannot be measured well


def effort(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The least of some measurements, in seconds of this process.

    Without collections of garbage: they go through all that the tests before have left in memory.
    """
    gc.collect()
    gc.disable()
    try:
        return max(LEAST, min(_once(work) for _ in range(rounds)))
    finally:
        gc.enable()


def _once(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
