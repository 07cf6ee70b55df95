"""How the server's process gets memory from the system, and how it gives memory back.

Only glibc has these settings. Elsewhere nothing is done.
"""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from typing import Final

_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
_ARENAS: Final = 2
"""Each thread would get an arena of its own, and each arena keeps what its thread has freed."""
_OWN_PAGES: Final = 512 * 1024
"""An array of so many bytes gets pages of its own, which go back to the system with it."""


def share_arenas() -> None:
    """Let all threads share a few arenas, and pictures have pages of their own."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_ARENA_MAX, _ARENAS)
        libc.mallopt(_MMAP_THRESHOLD, _OWN_PAGES)


def give_back() -> None:
    """Give what is free back to the system, and let the collector pass over what is in use."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    gc.freeze()
