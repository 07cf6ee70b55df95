"""Limit decoding: size of a picture, memory, and log output of decoders."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rexview.errors import ImageBroken, ImageBusy, ImageTooLarge

MAX_PIXELS: Final = 64_000_000
"""Pixels of the largest picture that is decoded: 8000 x 8000, four times the largest chest
detector."""

DAMAGED: Final = "The compressed picture is damaged and cannot be decoded."
NOT_A_PICTURE: Final = "This is not a DICOM, PNG, JPEG, WebP, TIFF, BMP or GIF picture."
NOT_SUPPORTED: Final = (
    "The picture is compressed in a way that is not supported here ({kind}), or it is damaged."
)
MORE_FRAMES: Final = "The file has {frames} frames; the first is shown."


def check_size(rows: int, columns: int, max_pixels: int) -> None:
    """Reject a picture by the size in its header, before anything is decoded.

    Raises
    ------
    ImageBroken
        It has no rows or no columns.
    ImageTooLarge
        It has more than ``max_pixels`` pixels.
    """
    if rows <= 0 or columns <= 0:
        raise ImageBroken("The file does not say how large the picture is.")
    if rows * columns > max_pixels:
        raise ImageTooLarge(
            f"The picture has {columns} x {rows} pixels, more than can be opened here "
            f"(limit {max_pixels / 1e6:g} million)."
        )


def cut_off_error() -> ImageBroken:
    """Return the error for a file that ends too early."""
    return ImageBroken("The file ends before the picture does: it is cut off.")


# Memory for decoding: of one picture, and of all pictures decoded at once.
#
# A few hundred kilobytes of PNG or DICOM can ask for gigabytes. The memory of a picture is computed
# from its header before anything is decoded. A picture over the limit is refused; others wait until
# memory is free. Figures are peak bytes of the whole work, from the file to the response, as
# measured by ``tests/imaging/test_memory.py``.

BYTES_PER_PIXEL: Final = 16
"""Bytes that one picture may need for each pixel that the limit of pixels allows."""
MAX_BYTES_AT_ONCE: Final = 1_500_000_000
"""Bytes for all pictures decoded at the same time; a picture that needs more is decoded alone."""
WAIT_SECONDS: Final = 20.0
MAX_WAITING: Final = 16
"""Limit of waiting threads: each one is missing where scores are saved."""
_BUSY: Final = "The server is busy with other large pictures. Try again in a moment."
_STRIP_PIXELS: Final = 1 << 20


class DecodingMemory:
    """Allocates memory for decoding, first come, first served.

    Parameters
    ----------
    total : int
        Bytes that may be in use at once. One larger request is served alone.
    seconds : float
        Longest wait for memory.
    most_waiting : int
        The most requests that may wait at the same time.
    """

    def __init__(
        self,
        total: int = MAX_BYTES_AT_ONCE,
        seconds: float = WAIT_SECONDS,
        most_waiting: int = MAX_WAITING,
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
        """Hold what this thread takes until its outermost scope ends."""
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
        """Reserve memory within a :meth:`scope`, before it is used; earlier reservations count.

        ``needed`` is the peak bytes of the scope's work, ``allowed`` their limit.

        Raises
        ------
        ImageTooLarge
            It needs more than is allowed.
        ImageBusy
            The memory did not become free in time.
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
            # memory held by this scope itself must not prevent a large picture from being alone
            while self._queue[0] is not place or (
                self.taken > held and self.taken + more > self.total
            ):
                if not self._changed.wait(end - time.monotonic()) and time.monotonic() >= end:
                    raise ImageBusy(_BUSY)
        finally:
            self._queue.remove(place)
            self._changed.notify_all()


DECODING_MEMORY: Final = DecodingMemory()
"""The decoding memory of this process."""


def reserve_memory(needed: int, max_pixels: int) -> None:
    """Reserve memory for a picture in the current scope of :data:`DECODING_MEMORY`.

    Raises
    ------
    ImageTooLarge, ImageBusy
        As for :meth:`DecodingMemory.take`; ``max_pixels`` pixels of :data:`BYTES_PER_PIXEL` bytes
        are allowed.
    """
    DECODING_MEMORY.take(needed, max_pixels * BYTES_PER_PIXEL)


def row_strips(rows: int, columns: int) -> Iterator[slice]:
    """Cut the rows of a picture into strips of about a million pixels.

    Arithmetic that needs several wide copies runs strip by strip.
    """
    step = max(1, _STRIP_PIXELS // max(1, columns))
    for top in range(0, rows, step):
        yield slice(top, min(rows, top + step))


# Silence the decoders: their warnings and log lines quote values of the file.
#
# What matters to a reader is repeated, without values, in ``Radiograph.warnings`` or as the reason
# of an :class:`rexview.errors.ImageError`.

_LOGGERS: Final = ("pydicom", "PIL", "pylibjpeg", "libjpeg", "openjpeg", "rle", "jpeg_ls")
_MODULES: Final = rf"({'|'.join(_LOGGERS)}|rexview\.imaging)(\.|$)"
_lock = threading.Lock()
_readers = 0
_outer: warnings.catch_warnings[None] | None = None

for _name in _LOGGERS:
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


@contextmanager
def silence_decoders() -> Iterator[None]:
    """Drop warnings of the decoding libraries inside the block.

    Python's warning filters are global to the process. Overlapping blocks of several threads share
    one change: the first block makes it, the last one reverts it.
    """
    global _readers, _outer
    with _lock:
        if _readers == 0:
            _outer = warnings.catch_warnings()
            _outer.__enter__()
            warnings.filterwarnings("ignore", module=_MODULES)
        _readers += 1
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if _readers == 0 and _outer is not None:
                _outer.__exit__(None, None, None)
                _outer = None
