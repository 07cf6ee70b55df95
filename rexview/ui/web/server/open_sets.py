"""Open review sets without written entries, and the state of the files that is open.

Images need no more, so this module imports neither the engines nor the reviews database.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

from rexview import reviewset
from rexview.addresses import remote_set_address
from rexview.errors import ReviewSetError, RexviewError
from rexview.remote import remote_sets
from rexview.reviewset.set_files import fingerprint
from rexview.schema import ReviewSet
from rexview.settings import load_settings
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.ui.web.server.shared_work import SharedWork
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.ui.web.server.clickhouse_sets import ClickHouseSet


# The open state of a review set's files, and how it is read.
#
# After a file has changed, the next page reads the set again. If only parts of ``answers/`` have
# grown, as during a run that adds an answer a second, the new state is read in the background.
# Pages show the previous state until it is read, and the next reading starts after a pause that is
# long compared with the time of a reading.

LEAST_S: Final = 5.0
MOST_S: Final = 600.0
SHARE: Final = 20
"""A growing set is read again after 20 times the time to read it and to make its pages, between 5 s
and 10 minutes."""
_SETS_KEPT: Final = 4
_STATES_KEPT: Final = 2
"""States kept of one set: the one on the pages and the one before."""
_LOG: Final = logging.getLogger(__name__)


class _OpenSet:
    """The states of one folder in memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._reading = Lock()
        self._read: OrderedDict[str, ReviewSet] = OrderedDict()
        self._shown = self._others = ""
        self._thread: Thread | None = None
        self._read_at = self._pause_until = 0.0
        self._share_read = 0.0

    def state(self, wait_s: float) -> str:
        """Return the state to show; wait up to ``wait_s`` seconds for one that is being read."""
        remote_sets.update_copy_soon(self._folder, load_settings())
        now, others = fingerprint(self._folder), fingerprint(self._folder, but_growing=True)
        with self._lock:
            if not self._shown or others != self._others:
                self._shown, self._others = now, others
            if now == self._shown:
                return now
            if self._thread is None and time.monotonic() >= self._pause_until:
                self._thread = Thread(target=self._follow, args=(now,), name="read what was added")
                self._thread.start()
            thread = self._thread
        if thread:
            thread.join(wait_s)
        with self._lock:
            return self._shown

    def _follow(self, state: str) -> None:
        """Read a state with added answers only, then show it or its errors."""
        try:
            with suppress(RexviewError):  # the page raises it, too
                state = self._load(state).fingerprint
        except Exception as error:
            _LOG.warning("Answers that were added cannot be read (%s).", type(error).__name__)
        with self._lock:
            if fingerprint(self._folder, but_growing=True) == self._others:
                self._shown = state
            self._thread = None

    def load(self, state: str) -> ReviewSet:
        """Return the set in a state; in the shown one if the state is no longer in memory."""
        if (known := self._known(state)) is not None:
            return known
        with self._lock:
            state = self._shown or state
        key = (self._folder, state)
        return _READING.result(key, lambda: self._load(state), self.words)

    def words(self) -> str:
        """Return the progress of the reading as a sentence."""
        if not self._share_read:
            return tr("Reading the review set …")
        if self._share_read >= 1:
            return tr("Checking the review set …")
        return tr("Reading the review set: {share:.0%} …").format(share=self._share_read)

    def _note_share(self, share: float) -> None:
        self._share_read = share

    def _load(self, state: str) -> ReviewSet:
        with self._reading:
            if (known := self._known(state)) is not None:
                return known
            begun = time.monotonic()
            self._share_read = 0.0
            found = reviewset.load_review_set(self._folder, self._note_share)
            with self._lock:
                self._read_at = self._pause_until = time.monotonic()
                self._pause(max(SHARE * (self._read_at - begun), LEAST_S))
                # a file may have grown before it was read
                self._read[state] = self._read[found.fingerprint] = found
                while len(set(map(id, self._read.values()))) > _STATES_KEPT:
                    self._read.popitem(last=False)
                if self._shown == state:
                    self._shown = found.fingerprint
        return found

    def note_cost(self, seconds: float) -> None:
        """Extend the pause by the time that pages take to use a newer state."""
        with self._lock:
            self._pause(SHARE * seconds)

    def _pause(self, seconds: float) -> None:
        """Read again after ``seconds``, or as planned if that is later, within the limit."""
        wanted = max(self._pause_until, time.monotonic() + seconds)
        self._pause_until = min(wanted, self._read_at + MOST_S)

    def _known(self, state: str) -> ReviewSet | None:
        with self._lock:
            if state in self._read:
                self._read.move_to_end(state)
            return self._read.get(state)


_READING: Final = SharedWork[ReviewSet]("read a review set")
_OPEN: Final[OrderedDict[Path, _OpenSet]] = OrderedDict()
_OPENING: Final = Lock()


def _of(folder: Path) -> _OpenSet:
    with _OPENING:
        found = _OPEN.setdefault(folder, _OpenSet(folder))
        _OPEN.move_to_end(folder)
        while len(_OPEN) > _SETS_KEPT:
            _OPEN.popitem(last=False)
        return found


def state_in_memory(folder: Path, *, wait_s: float = 0.0) -> str:
    """Return the name of the state of a set's files that pages show.

    It is the current state, unless only answers were added since. These are then read in the
    background; this waits up to ``wait_s`` seconds for a reading under way.
    """
    return _of(folder).state(wait_s)


def load_state(folder: Path, state: str) -> ReviewSet:
    """Load a set once for each state of its files; concurrent callers share one reading.

    Raises
    ------
    ReviewSetError
        The set cannot be opened; the error lists every problem.
    """
    return _of(folder).load(state)


def progress_words(folder: Path) -> str:
    """Return the progress of reading a set as a sentence."""
    return _of(folder).words()


def note_cost(folder: Path, seconds: float) -> None:
    """Record the time that pages take to use a newer state of a set, besides the reading."""
    _of(folder).note_cost(seconds)


def is_outdated(review_set: ReviewSet) -> bool:
    """Return whether answers were added since an open set was read."""
    return review_set.fingerprint.partition("-")[0] != fingerprint(review_set.folder)


def open_set(folder: Path, *, wait_s: float = 0.0) -> ReviewSet:
    """Open a review set without written entries, once for each state of its files.

    While a run adds answers, this is an earlier state, updated now and then (:mod:`.given_sets`). A
    reading under way is waited for up to ``wait_s`` seconds.

    Raises
    ------
    ReviewSetError
        The set cannot be opened; the error lists every problem.
    """
    if not folder.is_dir() and remote_set_address(folder) is None:
        raise ReviewSetError(tr("The folder {name} no longer exists.").format(name=folder.name))
    return load(folder, state_to_show(folder, wait_s=wait_s))


def load(folder: Path, state: str) -> ReviewSet:
    """Return the set in a state of its files, as :func:`load_state`.

    A set on ClickHouse is in the shown version, with the cases that pages have loaded.
    """
    return _loaded(folder).given() if uses_clickhouse() else load_state(folder, state)


def state_to_show(folder: Path, *, wait_s: float = 0.0) -> str:
    """Return the name of the state of a set's files that pages show."""
    if uses_clickhouse():
        return files_state(_loaded(folder).opened().empty)
    return state_in_memory(folder, wait_s=wait_s)


def with_cases_loaded(review_set: ReviewSet, cases: Sequence[str]) -> ReviewSet:
    """Return an open set, without written entries, with these cases loaded.

    This is the set itself, unless its tables are on ClickHouse and these cases are not loaded.
    """
    if not uses_clickhouse() or all(review_set.case_row(case) is not None for case in cases):
        return review_set
    loaded = _loaded(review_set.folder)
    loaded.look_at(cases)
    return loaded.given()


def files_state(review_set: ReviewSet) -> str:
    """Return the name of the state of a set's files, regardless of written entries."""
    return review_set.fingerprint.partition("-")[0]


def is_newest(review_set: ReviewSet) -> bool:
    """Return whether an open review set is in the state that pages show now."""
    return files_state(review_set) == state_to_show(review_set.folder)


def _loaded(folder: Path) -> ClickHouseSet:
    """Return a set on ClickHouse; the ClickHouse modules are imported only here."""
    from rexview.ui.web.server.clickhouse_sets import clickhouse_set

    return clickhouse_set(folder)
