"""Imports modules and opens the server's review set in the background, at the start.

The server answers at once, and a browser loads Streamlit's scripts while this continues, in three
steps:

1. What the radiograph of a Case page needs (:data:`_FIRST_PICTURE`), and the set. Every page run
   and every request for pixels waits for this.
2. What the first pages need (:data:`_FIRST_PAGES`). This starts when the first radiograph was
   sent, when another page is requested, or when nobody has opened a page for a while.
3. What other pages need, while users look at the first ones. Modules that draw charts
   (:data:`_WITH_CHARTS`) import altair and pandas, which take 60 MB: their pages import them.

Garbage collection would scan all of it repeatedly. So it is off until everything is imported, and
then ignores these objects for good.
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
from rexview.ui.web.server.shared_work import wait_with_message
from rexview.words import tr

# How the server's process gets memory from the system, and how it returns memory.
#
# Only glibc has these settings. Other systems are left unchanged.

_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
_ARENAS: Final = 2
"""Otherwise each thread gets its own arena, and an arena keeps what its thread has freed."""
_OWN_PAGES: Final = 512 * 1024
"""An array of this many bytes or more gets its own pages, which return to the system with it."""


def share_arenas() -> None:
    """Let all threads share a few arenas, and give images their own pages."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_ARENA_MAX, _ARENAS)
        libc.mallopt(_MMAP_THRESHOLD, _OWN_PAGES)


def release_memory() -> None:
    """Return free memory to the system, and exclude current objects from garbage collection."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    gc.freeze()


_HEAD_START_S: Final = 0.5
_FIRST_PICTURE: Final = ("rexview.ui.web.app.navigation", "rexview.ui.web.app.image_routes")
"""Modules whose imports are all that the first radiograph needs."""
_FIRST_PAGES: Final = ("web.app", "overview", "browse", "case")
"""Folders of ``rexview.ui``: the usual first pages, and the parts shared by all pages."""
_WITH_CHARTS: Final = frozenset(
    {
        "rexview.ui.charts",
        "rexview.ui.curate.curated_set",
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
"""Seconds without an opened page after which the first pages' imports start anyway."""
_PICTURE_S: Final = 2.0
"""Longest wait of a page for its radiograph to be sent."""
_WANTED: Final = Event()
_PICTURE_READY: Final = Event()
_PAGES_WANTED: Final = Event()
_READY: Final = Event()
_READING: Final = Event()
"""The set is being read."""


def _warm_up() -> None:
    gc.disable()
    try:
        _WANTED.wait(_HEAD_START_S)  # let the server first become able to answer
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
    Event().wait(_REST_AFTER_S)  # the first page is drawn meanwhile
    try:
        _import_all_of(but=_WITH_CHARTS)
        from rexview.detect import read_word_lists

        read_word_lists()
        release_memory()
    finally:
        gc.enable()


def _import_all_of(folder: str = "", but: Set[str] = frozenset()) -> None:
    package = import_module(f"rexview.ui.{folder}") if folder else ui
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in but:
            import_module(module.name)


def _open_set() -> None:
    """Open the set that most links are to; the page reports its errors."""
    from rexview.ui.web.server import open_sets, server_state

    with suppress(RexviewError):
        folder = server_state.settings().review_set
        _READING.set()
        open_sets.open_set(folder)


def _read_reviews() -> None:
    from rexview.ui.web.server import review_sets, server_state

    with suppress(RexviewError):
        review_sets.with_reviews(review_sets.open_set(server_state.settings().review_set))


_THREAD: Final = Thread(target=_warm_up, name="rexview warm-up", daemon=True)


def start_warm_up() -> None:
    """Start the warm-up; called once, when the server starts."""
    share_arenas()
    _THREAD.start()


def is_done() -> bool:
    """Return whether the first pages' imports are done; True if no server has started them."""
    return _READY.is_set() or not _THREAD.is_alive()


def wait_for_picture() -> None:
    """Wait until a radiograph can be shown; return at once if no server is starting."""
    if _THREAD.is_alive():
        _WANTED.set()
        wait_with_message(_PICTURE_READY.wait, _words)


def request_pages() -> None:
    """Import what the first pages need as soon as possible.

    Called when a page or the server's readiness is requested, or the first radiograph was sent.
    """
    _WANTED.set()
    _PAGES_WANTED.set()


def wait_after_picture() -> None:
    """Wait until the page's radiograph was sent and the first pages' imports are done."""
    _PAGES_WANTED.wait(_PICTURE_S)
    wait()


def wait() -> None:
    """Wait until the first pages' imports are done; return at once if no server is starting."""
    if _THREAD.is_alive():
        request_pages()
        wait_with_message(_READY.wait, _words)


def _words() -> str:
    """Return what the first page is waiting for, as a sentence."""
    if _READING.is_set() and not _PICTURE_READY.is_set():
        from rexview.ui.web.server import open_sets, server_state

        return open_sets.progress_words(server_state.settings().review_set)
    parts = sum(name.startswith("rexview.") for name in list(sys.modules))
    return tr("Starting the app: {parts:,} parts loaded …").format(parts=parts)
