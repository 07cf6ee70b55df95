"""Keeps the decoders from talking: their warnings and log lines quote values of the file.

What matters to a reader is said again, without values, in ``Radiograph.warnings`` or as the reason
of an :class:`rexview.errors.ImageError`.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_LOGGERS: Final = ("pydicom", "PIL", "pylibjpeg", "libjpeg", "openjpeg", "rle", "jpeg_ls")
_MODULES: Final = rf"({'|'.join(_LOGGERS)}|rexview\.imaging)(\.|$)"
_lock = threading.Lock()
_readers = 0
_outer: warnings.catch_warnings[None] | None = None

for _name in _LOGGERS:
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


@contextmanager
def quietly() -> Iterator[None]:
    """Drop warnings of the decoding libraries while the block runs.

    Python's warning filters belong to the process, so overlapping blocks of several threads share
    one change: the first to enter makes it, the last to leave takes it back.
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
