"""The two parts of a set, in ClickHouse and in memory, and an order of cases over both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.query.clickhouse.database import ClickHouseDatabase, QueryParameter
from rexview.analysis.query.clickhouse.loaded_set import (
    CaseSubset,
    OpenClickHouseSet,
    SetManifest,
    add_people_tables,
    reviews_of_cases,
)
from rexview.analysis.query.clickhouse.sql_conditions import REVIEWED_TABLE, SqlConditions
from rexview.analysis.query.engine import FilterTally, Position, make_position
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.analysis.query.memory.selection import FilterSelection, list_sort_numbers
from rexview.detect import DISAGREEMENT_THRESHOLD, GAP_THRESHOLD, create_detectors
from rexview.schema import ReviewSet
from rexview.stats import ContentOrder

_SUBSETS_KEPT: Final = 32


class EngineParts:
    """The two parts of a set that every query combines.

    Attributes
    ----------
    opened : OpenClickHouseSet
        The set in ClickHouse.
    small : CaseSubset
        The reviewed cases: those that people have written about.
    written : ReviewSet
        The same cases with all reviews that count.
    reviewed : MemoryEngine
        The engine of ``written``.
    """

    tally: Callable[[CaseFilter], FilterTally]

    def __init__(
        self,
        opened: OpenClickHouseSet,
        small: CaseSubset,
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
        self, small: CaseSubset, written: ReviewSet, before: MemoryEngine | None = None
    ) -> MemoryEngine:
        active = create_detectors(
            gap_threshold=self._gap, disagreement_threshold=self._apart, models=written.models
        )
        return build_memory_engine(
            written,
            gap_threshold=self._gap,
            disagreement_threshold=self._apart,
            content_order=self._order,
            scan=small.scan(active),
            before=before,
            comments=self._comments,
        )

    @property
    def database(self) -> ClickHouseDatabase:
        """The database of the tables."""
        return self.opened.database

    @property
    def manifest(self) -> SetManifest:
        """The manifest of the set."""
        return self.opened.manifest

    def of_cases(self, cases: Sequence[str]) -> MemoryEngine:
        """Return an engine on some cases, with people's reviews of them."""
        known = self.written.case_rows(pl.Series(list(cases), dtype=pl.String))
        return self.reviewed if (known >= 0).all() else self._mini(tuple(cases))

    def set_of(self, cases: Sequence[str]) -> tuple[ReviewSet, MemoryEngine]:
        """Return some cases as a set of their own, with people's reviews, and its engine.

        Raises
        ------
        EngineUnreachable
        """
        small = self.opened.small_set(cases)
        written = add_people_tables(small.given, reviews_of_cases(self.written, cases))
        return written, self._memory(small, written)

    @cached_property
    def _mini(self) -> _SubsetEngines:
        return _SubsetEngines(self)

    def conditions(self, case_filter: CaseFilter) -> SqlConditions:
        """Return the conditions of a filter as SQL."""
        return SqlConditions(self.opened.manifest, case_filter)

    def ask(
        self,
        sql: str,
        parameters: Mapping[str, QueryParameter],
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Return the result of a query on ClickHouse about the unreviewed cases.

        Raises
        ------
        EngineUnreachable
        """
        sent = {REVIEWED_TABLE: self._reviewed_rows, **(tables or {})}
        return self.opened.database.query(sql, parameters, sent)

    @cached_property
    def _reviewed_rows(self) -> pl.DataFrame:
        return self.small.records.select("case_row")

    def left(self, columns: str, case_filter: CaseFilter, rest: str = "") -> pl.DataFrame:
        """Select from the matching cases in ClickHouse; ``met`` is a mask of their answers.

        Raises
        ------
        EngineUnreachable
        """
        conditions = self.conditions(case_filter)
        sql = f"SELECT {columns} FROM {conditions.from_left()} {rest}"
        return self.ask(sql, conditions.parameters)

    def n_of(self, rows: str, conditions: SqlConditions, where: str) -> int:
        """Count the rows (SQL of a table) that meet ``where`` and a filter's conditions.

        Raises
        ------
        EngineUnreachable
        """
        found = self.ask(
            f"SELECT toInt64(count()) FROM {rows} WHERE {where}", conditions.parameters
        )
        return int(found.item())


class _SubsetEngines:
    """A factory of engines on a few cases, with a cache of the latest."""

    def __init__(self, parts: EngineParts) -> None:
        self._parts = parts
        self._made = lru_cache(maxsize=_SUBSETS_KEPT)(self._make)

    def __call__(self, cases: tuple[str, ...]) -> MemoryEngine:
        return self._made(cases)

    def _make(self, cases: tuple[str, ...]) -> MemoryEngine:
        parts = self._parts
        small = parts.opened.of_cases(cases)
        return parts._memory(
            small, add_people_tables(small.given, reviews_of_cases(parts.written, cases))
        )


# Pages of cases and the position of a case, in an order over both parts of a set.

_IN_MEMORY: Final = "in_memory"
_EARLIER: Final = (
    "countIf(number > {number:Float64} OR (number = {number:Float64} "
    "AND case_row < {case_row:UInt32}))"
)


@dataclass(frozen=True, eq=False)
class CaseOrdering:
    """The cases that match a filter, in its order: the largest ``number`` first, then by file.

    Attributes
    ----------
    parts : EngineParts
    conditions : SqlConditions
        The filter's conditions on the cases in ClickHouse.
    found : FilterSelection
        The matching cases in memory.
    """

    parts: EngineParts
    conditions: SqlConditions
    found: FilterSelection

    @cached_property
    def _in_memory(self) -> pl.DataFrame:
        """Matching cases in memory: ``case_row`` in the whole set, ``id``, ``number``."""
        case_rows = self.parts.small.case_rows[self.found.case_rows]
        return pl.DataFrame(
            {
                "case_row": case_rows.astype(np.uint32),
                "id": self.found.case_ids,
                "number": list_sort_numbers(self.found, self.conditions.case_filter),
            },
            schema_overrides={"id": pl.String},
        )

    @property
    def _on_tables(self) -> str:
        source = self.conditions.from_left()
        return f"SELECT case_row, id, {self.conditions.order} AS number FROM {source}"

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return up to ``size`` case ids from index ``start`` on."""
        if size < 1:
            return ()
        order = "ORDER BY number DESC, case_row"
        sql = (
            f"SELECT id FROM (SELECT * FROM ({self._on_tables} {order} LIMIT {start + size}) "
            f"UNION ALL SELECT case_row, id, number FROM {_IN_MEMORY}) "
            f"{order} LIMIT {start}, {size}"
        )
        found = self.parts.ask(sql, self.conditions.parameters, {_IN_MEMORY: self._in_memory})
        return tuple(found["id"].to_list())

    def position(self, case: str) -> Position:
        """Return the position of a case, and its neighbours."""
        at = self._at(case)
        number, case_row = at or (0.0, 0)
        mine = self._in_memory
        earlier = (pl.col("number") > number) | (
            (pl.col("number") == number) & (pl.col("case_row") < case_row)
        )
        before, left = self.parts.ask(
            f"SELECT {_EARLIER}, count() FROM ({self._on_tables})",
            {**self.conditions.parameters, "number": number, "case_row": case_row},
        ).row(0)
        place = before + len(mine.filter(earlier)) if at else None
        return make_position(place, left + len(mine), self.page)

    def _at(self, case: str) -> tuple[float, int] | None:
        """Return a case's sort number and row; None if it does not match."""
        mine = self._in_memory.filter(pl.col("id") == case)
        if len(mine):
            return mine["number"].item(), mine["case_row"].item()
        small = self.parts.opened.of_cases((case,))
        if not len(small.records):
            return None
        case_row = int(small.case_rows[0])
        found = self.parts.ask(
            f"SELECT number, case_row FROM ({self._on_tables}) WHERE case_row = {case_row}",
            self.conditions.parameters,
        )
        return found.row(0) if len(found) else None
