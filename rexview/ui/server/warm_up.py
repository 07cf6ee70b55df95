"""Imports what pages need and opens the server's review set, in the background, at the start.

The server answers at once, and a browser loads Streamlit's scripts while this goes on. The first
run of a page, and the first request for pixels, waits for what the first pages need
(:data:`_FIRST_PAGES`) and for the set; what other pages need comes while people look at those.
Garbage collection, which would walk over all of it again and again, waits until it is there, and
then passes over it for good.
"""

from __future__ import annotations

import gc
import pkgutil
from contextlib import suppress
from importlib import import_module
from threading import Event, Thread
from typing import Final

from rexview import ui
from rexview.errors import RexviewError

_HEAD_START_S: Final = 0.5
_FIRST_PAGES: Final = ("app", "overview", "browse", "case")
"""Folders of ``rexview.ui``: where people begin, and what all pages share."""
_REST_AFTER_S: Final = 5.0
_WANTED: Final = Event()
_READY: Final = Event()


def _warm_up() -> None:
    gc.disable()
    try:
        _WANTED.wait(_HEAD_START_S)  # the server first gets to where it can answer
        for folder in _FIRST_PAGES:
            _import_all_of(folder)
        _open_set()
    finally:
        _READY.set()
    Event().wait(_REST_AFTER_S)  # meanwhile the first page is drawn
    try:
        _import_all_of()
        from rexview.detect import read_word_lists

        read_word_lists()
        gc.freeze()
    finally:
        gc.enable()


def _import_all_of(folder: str = "") -> None:
    package = import_module(f"rexview.ui.{folder}") if folder else ui
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)


def _open_set() -> None:
    """Open the set that most links are to; what is wrong with it is said by the page."""
    from rexview.ui.server import review_sets, server_state

    with suppress(RexviewError):
        review_sets.with_written(review_sets.open_set(server_state.settings().review_set))


_THREAD: Final = Thread(target=_warm_up, name="rexview warm-up", daemon=True)


def begin() -> None:
    """Begin; called once, when the server starts."""
    _THREAD.start()


def is_done() -> bool:
    """Whether what the first page needs is there; also where no server has begun it."""
    return _READY.is_set() or not _THREAD.is_alive()


def wait() -> None:
    """Return when what the first page needs is there; at once where no server has begun it."""
    if _THREAD.is_alive():
        _WANTED.set()
        _READY.wait()
