"""Review sets whose tables are on ClickHouse: the cases loaded for pages, and their engines.

A page's review set contains only the cases that people have written about, and recently opened
cases; the engine queries all others. So the memory of this server does not grow with the set.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.query.clickhouse.clickhouse_engine import ClickHouseEngine
from rexview.analysis.query.clickhouse.database import database_at
from rexview.analysis.query.clickhouse.loaded_set import CaseSubset, OpenClickHouseSet
from rexview.analysis.query.clickhouse.loading import find_current_version_id, read_current_version
from rexview.reviewset import fingerprint, load_info_only
from rexview.schema import ReviewSet
from rexview.store import Reviews, open_reviews
from rexview.store.database_location import review_files, set_key
from rexview.ui.web.server import server_state

_LOOKS_EVERY_S: Final = 2.0
"""Seconds between two checks for the version of a set to show."""
_LOOKED_AT: Final = 500
"""Number of recently opened cases that stay loaded."""


class ClickHouseSet:
    """A set on ClickHouse in its shown version; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder: Final = folder
        self._database = database_at(server_state.settings().engine)
        self._read = load_info_only(folder)
        self._lock = Lock()
        self._looked_at: OrderedDict[str, None] = OrderedDict()
        self._opened: OpenClickHouseSet | None = None
        self._checked = 0.0
        self._reviews: tuple[tuple[Path, ...], Reviews] | None = None
        self._made: tuple[Any, ReviewSet] | None = None

    def opened(self) -> OpenClickHouseSet:
        """Return the shown version; concurrent callers wait for the check.

        Raises
        ------
        SetNotLoaded, EngineUnreachable
        """
        with self._lock:
            known = self._opened
            if known and time.monotonic() - self._checked < _LOOKS_EVERY_S:
                return known
            name = set_key(self._read)
            if (
                known is None
                or find_current_version_id(self._database, name) != known.manifest.version
            ):
                known = OpenClickHouseSet(
                    self._database, read_current_version(self._database, name), self._read
                )
                self._opened = known
            self._checked = time.monotonic()
            return known

    def written_about(self, opened: OpenClickHouseSet) -> frozenset[str]:
        """Return the cases that people have written about in the app."""
        files = review_files(opened.empty)
        if self._reviews is None or self._reviews[0] != files:
            self._reviews = files, open_reviews(opened.empty, server_state.settings())
        state = self._reviews[1].current_state()
        subjects = (subject for rows in state.newest.values() for subject in rows)
        return frozenset(case for case, *_ in subjects if case is not None)

    def given(self) -> ReviewSet:
        """Return the cases loaded for pages, without written entries.

        Raises
        ------
        SetNotLoaded, EngineUnreachable, StoreUnreachable, StoreBusy
        """
        opened = self.opened()
        cases = self.written_about(opened)
        with self._lock:
            key = opened, cases, frozenset(self._looked_at)
            if self._made is None or self._made[0] != key:
                small = opened.reviewed(cases | key[2])
                people: dict[str, Any] = opened.people
                self._made = key, replace(small.given, **people)
            return self._made[1]

    def look_at(self, cases: Iterable[str]) -> None:
        """Load these cases for pages."""
        with self._lock:
            for case in cases:
                self._looked_at[case] = None
                self._looked_at.move_to_end(case)
            while len(self._looked_at) > _LOOKED_AT:
                self._looked_at.popitem(last=False)

    def reviewed(self) -> tuple[OpenClickHouseSet, CaseSubset, ReviewSet]:
        """Return the set, the cases written about, and these without written entries.

        Raises
        ------
        SetNotLoaded, EngineUnreachable, StoreUnreachable, StoreBusy
        """
        opened = self.opened()
        small, people = _reviewed(opened, self.written_about(opened))
        return opened, small, people

    def engine(
        self, small: CaseSubset, written: ReviewSet, comments: Mapping[str, CommentCount]
    ) -> ClickHouseEngine:
        """Return an engine with people's entries until now."""
        settings = server_state.settings()
        return ClickHouseEngine(
            self.opened(),
            small,
            written,
            gap_threshold=settings.gap_threshold,
            disagreement_threshold=settings.disagreement_threshold,
            comments=comments,
        )

    @property
    def is_behind(self) -> bool:
        """Whether the files have changed since the set was loaded."""
        return fingerprint(self.folder) != self.opened().manifest.fingerprint


_REVIEWED: Final[
    OrderedDict[tuple[OpenClickHouseSet, frozenset[str]], tuple[CaseSubset, ReviewSet]]
] = OrderedDict()
_REVIEWED_KEPT: Final = 2
_KEEPING: Final = Lock()


def _reviewed(opened: OpenClickHouseSet, cases: frozenset[str]) -> tuple[CaseSubset, ReviewSet]:
    """Return the cases written about, once for each state."""
    key = opened, cases
    made = _REVIEWED.get(key)
    if made is None:
        small = opened.reviewed(cases)
        people: dict[str, Any] = opened.people
        with _KEEPING:  # a faster thread made it for both
            made = _REVIEWED.setdefault(key, (small, replace(small.given, **people)))
            while len(_REVIEWED) > _REVIEWED_KEPT:
                _REVIEWED.popitem(last=False)
    return made


@cache
def clickhouse_set(folder: Path) -> ClickHouseSet:
    """Return a set on ClickHouse.

    Raises
    ------
    ReviewSetError
        The folder is missing, or describes no set.
    """
    return ClickHouseSet(folder)
