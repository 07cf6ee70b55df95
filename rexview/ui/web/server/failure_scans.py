"""The background scan for failures in each open review set, shared by all visitors.

Findings arrive while people work, but numbers and orders on a page must not change while it is
read. So the server takes numbered snapshots of the findings. A visitor keeps one
(:func:`current_snapshot`) until they request the newest or open another list.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import WeakSet

import streamlit as st

from rexview.analysis import FILTER_KEYS
from rexview.detect import create_detectors
from rexview.detect.scan.background_scan import BackgroundProgress, BackgroundScan
from rexview.detect.scan.scan import Scan
from rexview.disk_cache import open_cache
from rexview.schema import ReviewSet
from rexview.spread.workers import InlineWorkers
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import ADDRESSES, PAGE_BROWSE, PAGE_CASE
from rexview.ui.web.server import server_state
from rexview.ui.web.server.page_work import PAGE_WORK

FEW_ANSWERS: Final = 200
"""A scan of at most this many answers takes seconds; pages then show findings unasked."""
_KEPT: Final = 3
"""Number of snapshots kept for the visitors who use them."""
_YOUNG_S: Final = 2.0
_SHARE: Final = 10
"""Other visitors share a snapshot for 2 s, or ten times its engine's build time if longer."""
MAX_SCAN_WAIT_S: Final = 0.3
"""Longest wait of a page for outcomes stored on disk, or for a scan of few answers."""
_OPEN: Final = 4
_LIST: Final = (ADDRESSES[PAGE_BROWSE], ADDRESSES[PAGE_CASE])


class FailureScan:
    """The scan of one state of a set's files."""

    def __init__(self, review_set: ReviewSet) -> None:
        settings = server_state.settings()
        self.folder = review_set.folder
        self._lock = Lock()
        self._cost_s = 0.0
        active = create_detectors(
            gap_threshold=settings.gap_threshold,
            disagreement_threshold=settings.disagreement_threshold,
            models=review_set.models,
        )
        self.has_few_answers: Final = len(review_set.newest) <= FEW_ANSWERS
        self.background: Final = BackgroundScan(
            review_set,
            active,
            keep=open_cache("scans", settings),
            spread=InlineWorkers() if self.has_few_answers else None,
            gives_way=None if self.has_few_answers else PAGE_WORK.seconds_left,
        )
        self.background.start()
        wait = self.background.wait if self.has_few_answers else self.background.wait_for_kept
        wait(MAX_SCAN_WAIT_S)
        self._snapshots = OrderedDict({0: self.background.scan})
        self._taken_at = time.monotonic()
        for other in _SCANS:
            if other.folder == self.folder:
                other.stop()  # their files have changed
        _SCANS.add(self)

    @property
    def progress(self) -> BackgroundProgress:
        """The scan's progress."""
        return self.background.progress

    def snapshot(self, number: int | None = None) -> tuple[int, Scan]:
        """Return a snapshot by number; the newest for None, or if it is no longer kept."""
        with self._lock:
            if number is not None and number in self._snapshots:
                self._snapshots.move_to_end(number)
                return number, self._snapshots[number]
            newest = max(self._snapshots)
            age = time.monotonic() - self._taken_at
            if age >= max(_YOUNG_S, _SHARE * self._cost_s):
                newest = self._take(newest)
            self._snapshots.move_to_end(newest)
            return newest, self._snapshots[newest]

    def take_snapshot(self) -> int:
        """Return the number of a snapshot of all current findings."""
        with self._lock:
            return self._take(max(self._snapshots))

    def _take(self, newest: int) -> int:
        found = self.background.scan
        self._taken_at = time.monotonic()
        if found is self._snapshots[newest]:
            return newest
        self._snapshots[newest + 1] = found
        while len(self._snapshots) > _KEPT:
            self._snapshots.popitem(last=False)
        return newest + 1

    def note_cost(self, seconds: float) -> None:
        """Record how long it took to make the engine of a snapshot."""
        self._cost_s = seconds

    def rescore(self, review_set: ReviewSet) -> None:
        """Use the scores of another state of the same files in later snapshots."""
        if self.background.progress.state != "finished":
            self.background.rescore(review_set)

    def prefer(self, case_rows: Sequence[int]) -> None:
        """Scan these cases next."""
        if len(case_rows):
            self.background.prefer(case_rows)

    def stop(self) -> None:
        """Pause the scan until :meth:`resume`."""
        self.background.stop()

    def resume(self) -> None:
        """Resume the scan."""
        self.background.resume()

    def begin_again(self) -> None:
        """Restart the scan after an error."""
        self.background.begin_again()

    def close(self) -> None:
        """End the scan: nobody has the set open any more."""
        self.background.close()


_SCANS: Final = WeakSet[FailureScan]()


@st.cache_resource(max_entries=_OPEN, show_spinner=False, on_release=FailureScan.close)
def failure_scan(_review_set: ReviewSet, folder: Path, files_state: str) -> FailureScan:
    """Return the scan of one state of a set's files; the first call starts it.

    Streamlit leaves ``_review_set`` out of the key.
    """
    return FailureScan(_review_set)


def current_snapshot(found: FailureScan, files_state: str) -> int:
    """Return the number of the snapshot for the user's page.

    It stays the same on one page with one filter, and from a list to its cases and back.
    """
    page, query = link_keys.current_page(), link_keys.query_lists()
    asked = {key: query[key] for key in FILTER_KEYS if key in query}
    view = (files_state, _LIST if page in _LIST else page, asked)
    kept = st.session_state.get(link_keys.SESSION_SCAN)
    wanted = kept[1] if kept and kept[0] == view else None
    number, _ = found.snapshot(wanted)
    st.session_state[link_keys.SESSION_SCAN] = (view, number)
    return number


def use_newest_snapshot(found: FailureScan) -> None:
    """Show the user all current findings from the next run of the page."""
    kept = st.session_state.get(link_keys.SESSION_SCAN)
    if kept:
        st.session_state[link_keys.SESSION_SCAN] = (kept[0], found.take_snapshot())
