"""What is still to be asked, shared by the threads of a run."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from rexview.models.request import Request
from rexview.models.running.journal import Item


@dataclass(eq=False)
class Entry:
    """One item, how often it was tried, and its request, once it is made."""

    item: Item
    tries: int = 0
    request: Request | None = field(default=None, repr=False)


class ToDo:
    """A queue whose entries may come back, at once or later."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._turn = threading.Condition()
        self._next = deque(Entry(item) for item in items)
        self._later: list[tuple[float, int, Entry]] = []
        self._numbers = itertools.count()
        self._taken = 0
        self._stopped = False

    def __len__(self) -> int:
        """How many are neither done nor taken."""
        return len(self._next) + len(self._later)

    def take(self, most: int) -> list[Entry]:
        """Wait for something to do; an empty list when nothing will come any more."""
        with self._turn:
            while not self._stopped:
                now = time.monotonic()
                while self._later and self._later[0][0] <= now:
                    self._next.appendleft(heapq.heappop(self._later)[2])
                if self._next:
                    count = min(most, len(self._next))
                    self._taken += count
                    return [self._next.popleft() for _ in range(count)]
                if not self._later and not self._taken:
                    break
                self._turn.wait(self._later[0][0] - now if self._later else None)
        return []

    def put_back(self, entry: Entry, *, after_s: float = 0.0) -> None:
        """Give an entry back to be taken again: first of all, or after some seconds."""
        with self._turn:
            self._taken -= 1
            if after_s > 0:
                entry.request = None  # its pictures need not wait in memory
                when = time.monotonic() + after_s
                heapq.heappush(self._later, (when, next(self._numbers), entry))
            else:
                self._next.appendleft(entry)
            self._turn.notify_all()

    def done(self, entry: Entry) -> None:
        """Say that an entry that was taken does not come back."""
        with self._turn:
            entry.request = None
            self._taken -= 1
            if not self._taken:
                self._turn.notify_all()

    def stop(self) -> None:
        """Give nothing out any more."""
        with self._turn:
            self._stopped = True
            self._turn.notify_all()
