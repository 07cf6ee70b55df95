"""How much memory decoding may take: one picture, and all that are decoded at once.

A few hundred kilobytes of PNG or DICOM can ask for gigabytes. What a picture needs is worked out
from its header, before anything is decoded; a picture that needs more than is allowed is refused,
others wait until there is room. Figures are bytes of the highest point of the whole work, from the
file to what is sent, as measured by ``tests/imaging/test_memory.py``.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rexview.errors import ImageBusy, ImageTooLarge

BYTES_PER_PIXEL: Final = 16
"""One picture may need so many bytes for each pixel that the limit of pixels allows."""
MAX_BYTES_AT_ONCE: Final = 1_500_000_000
"""All pictures that are decoded at the same time; one that needs more is decoded alone."""
WAIT_SECONDS: Final = 20.0
MOST_WAITING: Final = 16
"""More do not wait: threads that wait here are missing where scores are saved."""
_BUSY: Final = "The server is busy with other large pictures. Try again in a moment."
_STRIP_PIXELS: Final = 1 << 20


class DecodingMemory:
    """Hands out room for decoding, first come, first served.

    Parameters
    ----------
    total : int
        Bytes that may be taken at once. More than that is given to one taker alone.
    seconds : float
        How long a taker waits for room.
    most_waiting : int
        How many may wait at the same time.
    """

    def __init__(
        self,
        total: int = MAX_BYTES_AT_ONCE,
        seconds: float = WAIT_SECONDS,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.total = total
        self.seconds = seconds
        self.most_waiting = most_waiting
        self.taken = 0
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self._scope = threading.local()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Keep what this thread takes until the outermost block of this kind ends."""
        if getattr(self._scope, "held", None) is not None:
            yield
            return
        self._scope.held = 0
        try:
            yield
        finally:
            held, self._scope.held = self._scope.held, None
            if held:
                with self._changed:
                    self.taken -= held
                    self._changed.notify_all()

    def take(self, needed: int, allowed: int) -> None:
        """Take room inside a :meth:`scope`, before memory is used; what it has counts already.

        ``needed`` is the bytes of the scope's work at its highest point, ``allowed`` their limit.

        Raises
        ------
        ImageTooLarge
            If it needs more than is allowed.
        ImageBusy
            If there is no room for it in time.
        """
        if needed > allowed:
            raise ImageTooLarge(
                f"Opening the picture would take {needed / 1e6:,.0f} MB of memory, more than is "
                f"allowed here ({allowed / 1e6:,.0f} MB)."
            )
        more = needed - self._scope.held
        if more <= 0:
            return
        with self._changed:
            self._wait_for(more, self._scope.held)
            self.taken += more
            self._scope.held += more

    def _wait_for(self, more: int, held: int) -> None:
        if len(self._queue) >= self.most_waiting:
            raise ImageBusy(_BUSY)
        place = object()
        self._queue.append(place)
        end = time.monotonic() + self.seconds
        try:
            # what is held by this scope itself must not keep a large picture from being alone
            while self._queue[0] is not place or (
                self.taken > held and self.taken + more > self.total
            ):
                if not self._changed.wait(end - time.monotonic()) and time.monotonic() >= end:
                    raise ImageBusy(_BUSY)
        finally:
            self._queue.remove(place)
            self._changed.notify_all()


MEMORY: Final = DecodingMemory()
"""That of this process."""


def take(needed: int, max_pixels: int) -> None:
    """Take room for a picture in the current scope of :data:`MEMORY`.

    Raises
    ------
    ImageTooLarge, ImageBusy
        As :meth:`DecodingMemory.take`; ``max_pixels`` pixels of :data:`BYTES_PER_PIXEL` bytes are
        allowed.
    """
    MEMORY.take(needed, max_pixels * BYTES_PER_PIXEL)


def strips(rows: int, columns: int) -> Iterator[slice]:
    """Cut the rows of a picture into strips of about a million pixels.

    Arithmetic that needs several wide copies is done strip by strip.
    """
    step = max(1, _STRIP_PIXELS // max(1, columns))
    for top in range(0, rows, step):
        yield slice(top, min(rows, top + step))
