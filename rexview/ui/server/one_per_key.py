"""One object for each key, shared by all who ask for it, such as the lock of one reader."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

_Thing = TypeVar("_Thing")


class OnePerKey(Generic[_Thing]):
    """Hands out the same object for the same key for as long as anybody holds it.

    The ``most`` that were asked for last are kept when nobody does. ``functools.lru_cache`` would
    drop one in use when others push it out, and make a second: two locks for one thing.

    ``make`` makes an object, which must allow weak references.
    """

    def __init__(self, make: Callable[[], _Thing], most: int) -> None:
        self._make, self._most = make, most
        self._lock = Lock()
        self._alive: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._recent: OrderedDict[Hashable, _Thing] = OrderedDict()

    def __call__(self, *key: Hashable) -> _Thing:
        """Return the object of a key."""
        with self._lock:
            thing: _Thing | None = self._alive.get(key)
            if thing is None:
                thing = self._alive[key] = self._make()
            self._recent[key] = thing
            self._recent.move_to_end(key)
            if len(self._recent) > self._most:
                self._recent.popitem(last=False)
            return thing
