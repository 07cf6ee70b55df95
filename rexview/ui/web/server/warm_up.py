"""Imports what pages need and opens the server's review set, in the background, at the start.

The server answers at once, and a browser loads Streamlit's scripts while this goes on, in three
steps:

1. What the radiograph of a Case page needs (:data:`_FIRST_PICTURE`), and the set. Every page run
   and every request for pixels waits for this.
2. What the first pages need (:data:`_FIRST_PAGES`). This begins when the first radiograph was
   sent, when another page is asked for, or when nobody has opened a page for a while.
3. What other pages need, while people look at the first ones. Modules that draw charts
   (:data:`_WITH_CHARTS`) bring altair and pandas, which take 60 MB: they come with their pages.

Garbage collection, which would walk over all of it again and again, waits until it is there, and
then passes over it for good.
"""

from __future__ import annotations

import ctypes
import gc
import pkgutil
import sys
from collections.abc import Set
from contextlib import suppress
from importlib import import_module
from threading import Event, Thread
from typing import Final

from rexview import ui
from rexview.errors import RexviewError
from rexview.ui.web.server.shared_work import wait_and_say
from rexview.words import tr

# How the server's process gets memory from the system, and how it gives memory back.
#
# Only glibc has these settings. Elsewhere nothing is done.

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


_HEAD_START_S: Final = 0.5
_FIRST_PICTURE: Final = ("rexview.ui.web.app.navigation", "rexview.ui.web.app.image_routes")
"""Modules whose imports are all that the first radiograph needs."""
_FIRST_PAGES: Final = ("app", "overview", "browse", "case")
"""Folders of ``rexview.ui``: where people begin, and what all pages share."""
_WITH_CHARTS: Final = frozenset(
    {
        "rexview.ui.charts",
        "rexview.ui.curate.curated",
        "rexview.ui.failures.failure_rates",
        "rexview.ui.meeting.decision_list",
        "rexview.ui.multiple_choice.choice_accuracy",
        "rexview.ui.readers.reader_agreement",
        "rexview.ui.report_generation.board_widgets",
        "rexview.ui.scores.score_tables",
        "rexview.ui.tables.chart_table",
    }
)
_REST_AFTER_S: Final = 5.0
_NOBODY_S: Final = 10.0
"""A server that nobody has opened a page of for so long imports what the first pages need."""
_PICTURE_S: Final = 2.0
"""A page waits so long for its radiograph to be sent before it goes on."""
_WANTED: Final = Event()
_PICTURE_READY: Final = Event()
_PAGES_WANTED: Final = Event()
_READY: Final = Event()
_READING: Final = Event()
"""The set is being read."""


def _warm_up() -> None:
    gc.disable()
    try:
        _WANTED.wait(_HEAD_START_S)  # the server first gets to where it can answer
        for name in _FIRST_PICTURE:
            import_module(name)
        _open_set()
    finally:
        _PICTURE_READY.set()
    try:
        _PAGES_WANTED.wait(_NOBODY_S)
        for folder in _FIRST_PAGES:
            _import_all_of(folder)
        _read_reviews()
    finally:
        _READY.set()
    Event().wait(_REST_AFTER_S)  # meanwhile the first page is drawn
    try:
        _import_all_of(but=_WITH_CHARTS)
        from rexview.detect import read_word_lists

        read_word_lists()
        give_back()
    finally:
        gc.enable()


def _import_all_of(folder: str = "", but: Set[str] = frozenset()) -> None:
    package = import_module(f"rexview.ui.{folder}") if folder else ui
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in but:
            import_module(module.name)


def _open_set() -> None:
    """Open the set that most links are to; what is wrong with it is said by the page."""
    from rexview.ui.web.server import given_sets, server_state

    with suppress(RexviewError):
        folder = server_state.settings().review_set
        _READING.set()
        given_sets.open_set(folder)


def _read_reviews() -> None:
    from rexview.ui.web.server import review_sets, server_state

    with suppress(RexviewError):
        review_sets.with_written(review_sets.open_set(server_state.settings().review_set))


_THREAD: Final = Thread(target=_warm_up, name="rexview warm-up", daemon=True)


def begin() -> None:
    """Begin; called once, when the server starts."""
    share_arenas()
    _THREAD.start()


def is_done() -> bool:
    """Return whether what the first pages need is there; True where no server has begun it."""
    return _READY.is_set() or not _THREAD.is_alive()


def wait_for_picture() -> None:
    """Return when a radiograph can be shown; at once where no server has begun it."""
    if _THREAD.is_alive():
        _WANTED.set()
        wait_and_say(_PICTURE_READY.wait, _words)


def want_pages() -> None:
    """Import what the first pages need as soon as possible: a page or its readiness is asked for.

    Also called when the first radiograph was sent.
    """
    _WANTED.set()
    _PAGES_WANTED.set()


def wait_after_picture() -> None:
    """Return when the radiograph on the page was sent and what the first pages need is there."""
    _PAGES_WANTED.wait(_PICTURE_S)
    wait()


def wait() -> None:
    """Return when what the first pages need is there; at once where no server has begun it."""
    if _THREAD.is_alive():
        want_pages()
        wait_and_say(_READY.wait, _words)


def _words() -> str:
    """Say what the first page waits for."""
    if _READING.is_set() and not _PICTURE_READY.is_set():
        from rexview.ui.web.server import given_sets, server_state

        return given_sets.progress_words(server_state.settings().review_set)
    parts = sum(name.startswith("rexview.") for name in list(sys.modules))
    return tr("Starting the app: {parts:,} parts loaded …").format(parts=parts)
