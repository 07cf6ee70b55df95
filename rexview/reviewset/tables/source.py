"""The file of a table, and where in it a value stands: file, row and field of every problem."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.errors import Problem, Severity
from rexview.reviewset.problems import LISTED, ProblemList, quoted

TableFormat = Literal["jsonl", "csv", "parquet"]
Positions = npt.NDArray[np.int64]
Values = list[Any] | pl.Series
"""A column as given: parsed JSON values or cell texts, or a typed series."""
FromRow = str | Callable[[dict[str, Any]], str]
"""A text, or what makes it from a row as a dict."""


@dataclass
class TableSource:
    """The file of one table, or its folder of Parquet parts, and where its problems go.

    ``label`` is the name that problems carry. Rows are numbered through all parts;
    :meth:`locate` finds the part and the row in it.
    """

    name: str
    format: TableFormat
    label: str
    files: tuple[Path, ...]
    problems: ProblemList = field(default_factory=ProblemList)
    is_folder: bool = False
    _ends: list[int] = field(default_factory=list)

    def part_label(self, part: int) -> str:
        """Name of one part as problems carry it."""
        return f"{self.label}/{self.files[part].name}" if self.is_folder else self.label

    def end_part(self, last_row: int) -> None:
        """Note that the part being read ends with row ``last_row`` of the whole table."""
        self._ends.append(last_row)

    def locate(self, row: int | None) -> tuple[str, int | None]:
        """File label and row in that file, for a row of the whole table."""
        if row is None or not self.is_folder:
            return self.label, row
        part = min(bisect_left(self._ends, row), len(self.files) - 1)
        start = self._ends[part - 1] if part else 0
        return self.part_label(part), row - start

    def error(
        self, message: str, remedy: str, *, row: int | None = None, field: str | None = None
    ) -> None:
        """Report an error of the file, or of one row of it."""
        self.problems.add("error", self.label, message, remedy, row=row, field=field)

    def warning(self, message: str, remedy: str, *, field: str | None = None) -> None:
        """Report a warning about the file."""
        self.problems.add("warning", self.label, message, remedy, field=field)

    def report_rows(
        self,
        severity: Severity,
        rows: pl.DataFrame,
        message: FromRow,
        remedy: str,
        field: FromRow | None = None,
    ) -> None:
        """Report every row of a query's result, which has the column ``_row``."""
        examples = []
        for row in rows.head(LISTED).iter_rows(named=True):
            file, file_row = self.locate(row["_row"])
            where = field(row) if callable(field) else field
            text = message(row) if callable(message) else message
            examples.append(Problem(severity, file, file_row, where, text, remedy))
        self.problems.add_many(examples, rows.height, table=self.label)


@dataclass(frozen=True)
class Location:
    """Where a column stands, or one field of a nested column.

    ``rows`` maps a position in the column to its row in the table. For a field inside a list or an
    object, ``parent`` is the location of that list or object, ``owner`` maps a position to a
    position in the parent, and ``index`` to the place in the parent's list.
    """

    source: TableSource
    field: str
    rows: Positions | None = None
    parent: Location | None = None
    owner: Positions | None = None
    index: Positions | None = None

    def inside(self, name: str, owner: Positions, index: Positions | None = None) -> Location:
        """Location of a field ``name`` of the objects in this column; ``""`` for plain items."""
        return Location(self.source, name, None, self, owner, index)

    def of(self, position: int) -> tuple[int | None, str]:
        """Row in the table and the field's full name, such as ``boxes[2].label``."""
        if self.parent is None or self.owner is None:
            return (None if self.rows is None else int(self.rows[position])), self.field
        row, field = self.parent.of(int(self.owner[position]))
        if self.index is not None:
            field += f"[{self.index[position]}]"
        return row, f"{field}.{self.field}" if self.field else field

    def report(
        self,
        severity: Severity,
        wrong: pl.Series | Positions,
        message: str | Callable[[int], str],
        remedy: str,
        values: pl.Series | None = None,
    ) -> None:
        """Report the positions that are ``wrong`` (a mask without nulls counts its trues).

        ``message`` may hold ``{value}``, which becomes the value given, in quotes.
        """
        positions = wrong.arg_true().to_numpy() if isinstance(wrong, pl.Series) else wrong
        examples = []
        for position in positions[:LISTED].tolist():
            row, field = self.of(position)
            file, file_row = self.source.locate(row)
            text = message(position) if callable(message) else message
            if values is not None:
                text = text.replace("{value}", quoted(values[position]))
            examples.append(Problem(severity, file, file_row, field, text, remedy))
        self.source.problems.add_many(examples, len(positions), table=self.source.label)
