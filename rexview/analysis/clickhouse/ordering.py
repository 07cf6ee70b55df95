"""Pages of cases and the place of one, in an order that runs through both parts of a set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rexview.analysis.clickhouse.selection import Conditions
from rexview.analysis.engine import Position, position_at
from rexview.analysis.memory.selection import Selection, numbers_in_order

if TYPE_CHECKING:
    from rexview.analysis.clickhouse.parts import Parts

_IN_MEMORY: Final = "in_memory"
_EARLIER: Final = (
    "countIf(number > {number:Float64} OR (number = {number:Float64} "
    "AND case_row < {case_row:UInt32}))"
)


@dataclass(frozen=True, eq=False)
class Ordering:
    """The cases that a filter leaves, in its order: the largest ``number`` first, then by file.

    Attributes
    ----------
    parts : Parts
    conditions : Conditions
        Of the cases on ClickHouse.
    found : Selection
        The cases in memory that are left.
    """

    parts: Parts
    conditions: Conditions
    found: Selection

    @cached_property
    def _in_memory(self) -> pl.DataFrame:
        """The cases in memory: ``case_row`` in the whole set, ``id``, ``number``."""
        case_rows = self.parts.small.case_rows[self.found.case_rows]
        return pl.DataFrame(
            {
                "case_row": case_rows.astype(np.uint32),
                "id": self.found.case_ids,
                "number": numbers_in_order(self.found, self.conditions.case_filter),
            },
            schema_overrides={"id": pl.String},
        )

    @property
    def _on_tables(self) -> str:
        source = self.conditions.from_left()
        return f"SELECT case_row, id, {self.conditions.order} AS number FROM {source}"

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return the ids of some of the cases."""
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
        """Find a case, and its neighbours."""
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
        return position_at(place, left + len(mine), self.page)

    def _at(self, case: str) -> tuple[float, int] | None:
        """Return what says where a case stands; None when it is not left."""
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
