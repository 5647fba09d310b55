"""What takes long to make and is used again: models, retrievers, graphs, opened evaluations."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class Kept(Generic[T]):
    """Things by their keys, the last used few of them; each is made once, however many ask for it.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._things: OrderedDict[Hashable, T] = OrderedDict()
        # Each while somebody holds it or waits for it, so that all who ask for a thing have the same one.
        self._making: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The thing of a key, made now if it is not kept; who asks for it meanwhile waits, nobody else does.

        Whatever `make` raises is raised, and the next one who asks tries again.
        """
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._things:
                    self._things.move_to_end(key)
                    return self._things[key]
            thing = make()
            with self._lock:
                self._things[key] = thing
                while len(self._things) > self._most:
                    self._things.popitem(last=False)
            return thing
