"""The two parts of a set on ClickHouse that every question is asked of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

import polars as pl

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.clickhouse.database.database import Database, Parameter
from rexview.analysis.clickhouse.selection import REVIEWED, Conditions
from rexview.analysis.clickhouse.tables.manifest import Manifest
from rexview.analysis.clickhouse.tables.opened import OpenedSet, about_cases, with_people
from rexview.analysis.clickhouse.tables.small_sets import SmallSet
from rexview.analysis.engine import Tally
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.memory.engine import MemoryEngine, memory_engine
from rexview.detect import DISAGREEMENT_THRESHOLD, GAP_THRESHOLD, detectors
from rexview.schema import ReviewSet
from rexview.stats import ContentOrder

_MINI_KEPT: Final = 32


class Parts:
    """The two parts that every question is asked of.

    Attributes
    ----------
    opened : OpenedSet
        The set on ClickHouse.
    small : SmallSet
        The reviewed cases: those that people have written about.
    written : ReviewSet
        The same cases with all that people wrote, as far as it counts.
    reviewed : MemoryEngine
        The engine of ``written``.
    """

    tally: Callable[[CaseFilter], Tally]

    def __init__(
        self,
        opened: OpenedSet,
        small: SmallSet,
        written: ReviewSet,
        *,
        gap_threshold: float = GAP_THRESHOLD,
        disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
        content_order: ContentOrder = "mean_first",
        comments: Mapping[str, CommentCount] | None = None,
        before: MemoryEngine | None = None,
    ) -> None:
        self.opened, self.small, self.written = opened, small, written
        self._gap, self._apart = gap_threshold, disagreement_threshold
        self._order, self._comments = content_order, comments
        self.reviewed = self._memory(small, written, before)

    def _memory(
        self, small: SmallSet, written: ReviewSet, before: MemoryEngine | None = None
    ) -> MemoryEngine:
        active = detectors(
            gap_threshold=self._gap, disagreement_threshold=self._apart, models=written.models
        )
        return memory_engine(
            written,
            gap_threshold=self._gap,
            disagreement_threshold=self._apart,
            content_order=self._order,
            scan=small.scan(active),
            before=before,
            comments=self._comments,
        )

    @property
    def database(self) -> Database:
        """Where the tables are."""
        return self.opened.database

    @property
    def manifest(self) -> Manifest:
        """What is said once of the set."""
        return self.opened.manifest

    def of_cases(self, cases: Sequence[str]) -> MemoryEngine:
        """Return an engine on some cases, with all that people wrote about them."""
        known = self.written.case_rows(pl.Series(list(cases), dtype=pl.String))
        return self.reviewed if (known >= 0).all() else self._mini(tuple(cases))

    def set_of(self, cases: Sequence[str]) -> tuple[ReviewSet, MemoryEngine]:
        """Return some cases as a set of their own, with all that people wrote, and its engine.

        Raises
        ------
        EngineUnreachable
        """
        small = self.opened.small_set(cases)
        written = with_people(small.given, about_cases(self.written, cases))
        return written, self._memory(small, written)

    @cached_property
    def _mini(self) -> _Mini:
        return _Mini(self)

    def conditions(self, case_filter: CaseFilter) -> Conditions:
        """Return the conditions of a filter as SQL."""
        return Conditions(self.opened.manifest, case_filter)

    def ask(
        self,
        sql: str,
        parameters: Mapping[str, Parameter],
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Ask ClickHouse about the cases that nobody has written about.

        Raises
        ------
        EngineUnreachable
        """
        sent = {REVIEWED: self._reviewed_rows, **(tables or {})}
        return self.opened.database.query(sql, parameters, sent)

    @cached_property
    def _reviewed_rows(self) -> pl.DataFrame:
        return self.small.records.select("case_row")

    def left(self, columns: str, case_filter: CaseFilter, rest: str = "") -> pl.DataFrame:
        """Select from the cases on ClickHouse that are left; ``met`` says which of their answers.

        Raises
        ------
        EngineUnreachable
        """
        conditions = self.conditions(case_filter)
        sql = f"SELECT {columns} FROM {conditions.from_left()} {rest}"
        return self.ask(sql, conditions.parameters)

    def n_of(self, rows: str, conditions: Conditions, where: str) -> int:
        """Count rows (SQL of a table) for which something holds, under the conditions of a filter.

        Raises
        ------
        EngineUnreachable
        """
        found = self.ask(
            f"SELECT toInt64(count()) FROM {rows} WHERE {where}", conditions.parameters
        )
        return int(found.item())


class _Mini:
    """Makes engines on a few cases; the latest are kept."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._made = lru_cache(maxsize=_MINI_KEPT)(self._make)

    def __call__(self, cases: tuple[str, ...]) -> MemoryEngine:
        return self._made(cases)

    def _make(self, cases: tuple[str, ...]) -> MemoryEngine:
        parts = self._parts
        small = parts.opened.of_cases(cases)
        return parts._memory(small, with_people(small.given, about_cases(parts.written, cases)))
