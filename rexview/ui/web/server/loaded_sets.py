"""Review sets whose tables are on ClickHouse: what pages hold of them, and their engines.

A page has a review set of those cases only that people have written about, and of those that
somebody has open; all others are asked for by the engine. So what this server holds does not grow
with the set.
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
from rexview.analysis.query.clickhouse.database import database_at
from rexview.analysis.query.clickhouse.engine import ClickHouseEngine
from rexview.analysis.query.clickhouse.loaded_set import OpenedSet, SmallSet
from rexview.analysis.query.clickhouse.loading import read_shown_version, shown_version
from rexview.reviewset import fingerprint, without_cases
from rexview.schema import ReviewSet
from rexview.store import Reviews, open_reviews
from rexview.store.location import files_of, set_key
from rexview.ui.web.server import server_state

_LOOKS_EVERY_S: Final = 2.0
"""So often a server looks which version of a set is to be shown."""
_LOOKED_AT: Final = 500
"""Cases that somebody has or had open, the latest."""


class LoadedSet:
    """A set on ClickHouse in its version that is shown. Safe for several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder: Final = folder
        self._database = database_at(server_state.settings().engine)
        self._read = without_cases(folder)
        self._lock = Lock()
        self._looked_at: OrderedDict[str, None] = OrderedDict()
        self._opened: OpenedSet | None = None
        self._checked = 0.0
        self._reviews: tuple[tuple[Path, ...], Reviews] | None = None
        self._made: tuple[Any, ReviewSet] | None = None

    def opened(self) -> OpenedSet:
        """Return the version that is shown; who comes while it is looked for waits.

        Raises
        ------
        SetNotLoaded, EngineUnreachable
        """
        with self._lock:
            known = self._opened
            if known and time.monotonic() - self._checked < _LOOKS_EVERY_S:
                return known
            name = set_key(self._read)
            if known is None or shown_version(self._database, name) != known.manifest.version:
                known = OpenedSet(
                    self._database, read_shown_version(self._database, name), self._read
                )
                self._opened = known
            self._checked = time.monotonic()
            return known

    def written_about(self, opened: OpenedSet) -> frozenset[str]:
        """Return the cases that people have written about in the app."""
        files = files_of(opened.empty)
        if self._reviews is None or self._reviews[0] != files:
            self._reviews = files, open_reviews(opened.empty, server_state.settings())
        state = self._reviews[1].current_state()
        subjects = (subject for rows in state.newest.values() for subject in rows)
        return frozenset(case for case, *_ in subjects if case is not None)

    def given(self) -> ReviewSet:
        """Return the cases that pages hold, as they were given.

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
        """Have some cases among those that pages hold."""
        with self._lock:
            for case in cases:
                self._looked_at[case] = None
                self._looked_at.move_to_end(case)
            while len(self._looked_at) > _LOOKED_AT:
                self._looked_at.popitem(last=False)

    def reviewed(self) -> tuple[OpenedSet, SmallSet, ReviewSet]:
        """Return the set, the cases written about, and these as they were given.

        Raises
        ------
        SetNotLoaded, EngineUnreachable, StoreUnreachable, StoreBusy
        """
        opened = self.opened()
        small, people = _reviewed(opened, self.written_about(opened))
        return opened, small, people

    def engine(
        self, small: SmallSet, written: ReviewSet, comments: Mapping[str, CommentCount]
    ) -> ClickHouseEngine:
        """Make an engine of what people have written until now."""
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


_REVIEWED: Final[OrderedDict[tuple[OpenedSet, frozenset[str]], tuple[SmallSet, ReviewSet]]] = (
    OrderedDict()
)
_REVIEWED_KEPT: Final = 2
_KEEPING: Final = Lock()


def _reviewed(opened: OpenedSet, cases: frozenset[str]) -> tuple[SmallSet, ReviewSet]:
    """Return the cases written about, once for each state."""
    key = opened, cases
    made = _REVIEWED.get(key)
    if made is None:
        small = opened.reviewed(cases)
        people: dict[str, Any] = opened.people
        with _KEEPING:  # who was quicker has made it for both
            made = _REVIEWED.setdefault(key, (small, replace(small.given, **people)))
            while len(_REVIEWED) > _REVIEWED_KEPT:
                _REVIEWED.popitem(last=False)
    return made


@cache
def loaded_set(folder: Path) -> LoadedSet:
    """Return a set on ClickHouse.

    Raises
    ------
    ReviewSetError
        Its folder is not there, or says nothing of a set.
    """
    return LoadedSet(folder)
