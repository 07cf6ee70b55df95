"""Imports what pages need, in the background, as soon as the server has begun.

The server answers at once, and a browser loads Streamlit's scripts while this goes on. The first
run of a page, and the first request for pixels, waits until it is done. So no two threads import
the same package at once, and what all visitors share can be frozen: garbage collection, which
Streamlit runs after every page run, then passes over it.
"""

from __future__ import annotations

import gc
import pkgutil
from importlib import import_module
from threading import Event, Thread
from typing import Final

from rexview import ui

_HEAD_START_S: Final = 0.5
_WANTED: Final = Event()


def _import_all() -> None:
    _WANTED.wait(_HEAD_START_S)  # the server first gets to where it can answer
    for module in pkgutil.walk_packages(ui.__path__, "rexview.ui."):
        import_module(module.name)
    from rexview.detect import read_word_lists

    read_word_lists()
    gc.collect()
    gc.freeze()


_THREAD: Final = Thread(target=_import_all, name="rexview warm-up", daemon=True)


def begin() -> None:
    """Begin; called once, when the server starts."""
    _THREAD.start()


def wait() -> None:
    """Return when it is done; at once where no server has begun it."""
    if _THREAD.is_alive():
        _WANTED.set()
        _THREAD.join()
