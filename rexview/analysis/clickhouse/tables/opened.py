"""A loaded set that is open: its tables, and the few cases of it that are in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any, Final

import polars as pl

from rexview.analysis.clickhouse.database.database import Database
from rexview.analysis.clickhouse.tables.manifest import PEOPLE, Manifest
from rexview.analysis.clickhouse.tables.small_sets import (
    SmallSet,
    empty_set,
    given_by_people,
    records_of,
)
from rexview.errors import EngineUnreachable
from rexview.schema import ReviewSet

MOST_REVIEWED: Final = 50_000
"""Cases that people have written about: these are in memory."""
_PAGES_KEPT: Final = 32
_UNUSED_KEPT: Final = 2_000
"""Cases in memory that nobody asks for any more; with more of them all of these go."""


@dataclass(frozen=True, eq=False)
class _Known:
    """Records that are in memory, and the cases that they are of."""

    records: pl.DataFrame
    cases: frozenset[str]


class OpenedSet:
    """One version of a set on ClickHouse. Safe for several threads.

    Parameters
    ----------
    database : Database
    manifest : Manifest
        The version.
    read : ReviewSet
        The set without any case: what its folder says, and how its pictures are found.
    """

    def __init__(self, database: Database, manifest: Manifest, read: ReviewSet) -> None:
        self.database: Final = database
        self.manifest: Final = manifest
        self.empty: Final = empty_set(read, manifest)
        self.people: Final = given_by_people(manifest)
        self._known = _Known(records_of(database, manifest, []), frozenset())
        self._reading = Lock()
        self.of_cases = lru_cache(maxsize=_PAGES_KEPT)(self.small_set)

    def reviewed(self, written_about: Iterable[str] = ()) -> SmallSet:
        """Return the cases that came with something that people gave, and some more, by file order.

        Only those that are not in memory yet are asked for.

        Raises
        ------
        EngineUnreachable
        """
        wanted = frozenset(written_about).union(*map(named_cases, self.people.values()))
        if len(wanted) > MOST_REVIEWED:
            raise EngineUnreachable(
                f"People have written about {len(wanted):,} cases of this set, and "
                f"{MOST_REVIEWED:,} fit beside tables on ClickHouse.",
                "Open it with the engine in memory.",
            )
        with self._reading:
            new = sorted(wanted - self._known.cases)
            if new:
                more = records_of(self.database, self.manifest, new)
                records = pl.concat([self._known.records, more]).sort("case_row")
                self._known = _Known(records, self._known.cases | wanted)
            known = self._known.records
            if len(self._known.cases) - len(wanted) > _UNUSED_KEPT:
                of_wanted = known.filter(pl.col("id").is_in(list(wanted)))
                self._known = _Known(of_wanted, wanted)
        records = known.filter(pl.col("id").is_in(list(wanted)))
        return self._set_of(records)

    def small_set(self, cases: Sequence[str]) -> SmallSet:
        """Return some cases, those of which the set has; :attr:`of_cases` keeps the latest.

        Raises
        ------
        EngineUnreachable
        """
        return self._set_of(records_of(self.database, self.manifest, cases))

    def _set_of(self, records: pl.DataFrame) -> SmallSet:
        return SmallSet.of(self.manifest, records, self.empty)


def named_cases(table: pl.DataFrame) -> set[str]:
    """Return the cases that a table names."""
    return set(table["case"].drop_nulls()) if "case" in table.columns else set()


def with_people(given: ReviewSet, people: dict[str, pl.DataFrame]) -> ReviewSet:
    """Add the tables that people filled to a set, as far as they are about its cases."""
    known: dict[str, Any] = dict(people)
    return replace(given, **known)


def about_cases(written: ReviewSet, cases: Sequence[str]) -> dict[str, Any]:
    """Return what people gave about some cases, by table."""
    named = pl.Series(list(cases), dtype=pl.String).implode()
    tables = {name: getattr(written, name) for name in (*PEOPLE, "unfinished")}
    found: dict[str, Any] = {
        name: table.filter(pl.col("case").is_in(named)) if "case" in table.columns else table
        for name, table in tables.items()
    }
    wanted = frozenset(cases)
    found["marks"] = tuple(mark for mark in written.marks if mark.case in wanted)
    return found | {"written_failures": written.written_failures}
