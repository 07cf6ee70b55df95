"""The origin of a table's rows, and the place of a value: file, row and field of problems.

Rows come from the table's files, its parts, or from an import that made them (``rows``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.errors import Problem, Severity
from rexview.reviewset.problems import ProblemList, quote_value

TableFormat = Literal["jsonl", "csv", "parquet"]
Positions = npt.NDArray[np.int64]
Values = list[Any] | pl.Series
"""A column as given: parsed JSON values or cell texts, or a typed series."""
FromRow = str | Callable[[dict[str, Any]], str]
"""A text, or a function that makes it from a row as a dict."""
MAX_COLUMNS: Final = 2000
"""Maximum number of different fields of a table; about 20 are declared."""
TOO_MANY_COLUMNS: Final = (
    f"The table has more than {MAX_COLUMNS:,} different fields.",
    "Keep what belongs to a case or an answer; put the rest into one field.",
)
_STEP: Final = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True)
class RowOrigin:
    """The origin of an imported row: the file's name as shown, and the row in it from 1.

    ``part`` distinguishes rows if one file has several lists of them (the images and the
    annotations of COCO). ``columns`` maps fields to the source's names for them, for problems.
    """

    file: str
    row: int | None = None
    part: str = ""
    columns: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def named(self, field: str) -> str:
        """Return the source's name for a field."""
        return self.columns.get(field) or self.columns.get(_STEP.findall(field)[0], field)


@dataclass(frozen=True)
class TablePart:
    """One file of a table. ``label`` is its name in problems.

    ``grows`` is True if a run may be writing to it, so that its last line may be incomplete.
    """

    path: Path
    format: TableFormat
    label: str
    grows: bool = False


@dataclass
class TableSource:
    """The files of one table, its parts, and the receiver of its problems.

    ``label`` names the whole table in problems. Rows are numbered through all parts; :meth:`locate`
    finds the part and the row in it. Without parts the rows are those of an import, each with its
    place. An invalid value, an error in a file of our own, is then a warning and kept in ``unfit``
    (by row, then by field). ``read_bytes`` is the size read from its files so far.
    """

    name: str
    label: str
    parts: tuple[TablePart, ...] = ()
    problems: ProblemList = field(default_factory=ProblemList)
    rows: Sequence[Mapping[str, Any]] = ()
    places: Sequence[RowOrigin] = ()
    unfit: dict[int, dict[str, Any]] = field(default_factory=dict)
    read_bytes: int = 0
    _ends: list[int] = field(default_factory=list)

    @property
    def is_import(self) -> bool:
        """True if its rows are those of an import, not of files of our own."""
        return bool(self.rows)

    def end_part(self, last_row: int) -> None:
        """Record that the part being read ends with row ``last_row`` of the whole table."""
        self._ends.append(last_row)

    def locate(self, row: int | None) -> tuple[str, int | None]:
        """Return file label and row in that file for a row of the whole table."""
        if row is not None and self.places:
            return self.places[row - 1].file, self.places[row - 1].row
        if row is None or not self.parts:
            return self.label, row
        part = min(bisect_left(self._ends, row), len(self.parts) - 1)
        start = self._ends[part - 1] if part else 0
        return self.parts[part].label, row - start

    def place(self, row: int, seen_from: int) -> str:
        """Return a row's place in words, with its file if ``seen_from`` is in another one."""
        file, number = self.locate(row)
        return f"row {number}" if file == self.locate(seen_from)[0] else f"row {number} of {file}"

    def keep_unfit(self, row: int, field: str) -> None:
        """Keep the given value of an imported row's field, such as ``images[0].width``."""
        value: Any = self.rows[row - 1]
        for step in _STEP.findall(field):
            if isinstance(value, list):
                value = value[int(step)]
            elif isinstance(value, Mapping):
                value = value.get(step)
        self.unfit.setdefault(row, {})[field] = value

    def named(self, row: int | None, field: str | None) -> str | None:
        """Return a field's name in the source of the row."""
        return self.places[row - 1].named(field) if row and field and self.places else field

    def error(self, message: str, remedy: str) -> None:
        """Report an error of the table."""
        self.problems.add("error", self.label, message, remedy)

    def warning(self, message: str, remedy: str, *, field: str | None = None) -> None:
        """Report a warning about the table."""
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
        for row in rows.head(self.problems.listed).iter_rows(named=True):
            file, file_row = self.locate(row["_row"])
            where = field(row) if callable(field) else field
            text = message(row) if callable(message) else message
            where = self.named(row["_row"], where)
            examples.append(Problem(severity, file, file_row, where, text, remedy))
        self.problems.add_many(examples, rows.height, table=self.label)


@dataclass(frozen=True)
class ColumnLocation:
    """The place of a column, or of one field of a nested column.

    ``rows`` maps a position in the column to its row in the table. For a field inside a list or an
    object, ``parent`` is the location of that list or object, ``owner`` maps a position to a
    position in the parent, and ``index`` to the place in the parent's list. An object is unusable
    without a ``required`` field: an invalid value is an error there, even in an import.
    """

    source: TableSource
    field: str
    rows: Positions | None = None
    parent: ColumnLocation | None = None
    owner: Positions | None = None
    index: Positions | None = None
    required: bool = False

    def inside(
        self,
        name: str,
        owner: Positions,
        index: Positions | None = None,
        *,
        required: bool = False,
    ) -> ColumnLocation:
        """Return the location of a field of this column's objects; ``""`` for plain items."""
        return ColumnLocation(self.source, name, None, self, owner, index, required)

    def of(self, position: int) -> tuple[int | None, str]:
        """Return the row in the table and the field's full name, such as ``boxes[2].label``."""
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

        ``message`` may contain ``{value}``, which becomes the value given, in quotes.
        """
        positions = wrong.arg_true().to_numpy() if isinstance(wrong, pl.Series) else wrong
        if severity == "error" and self.source.is_import and not self.required:
            severity = "warning"
            for row, field in map(self.of, positions.tolist()):
                if row is not None:
                    self.source.keep_unfit(row, field)
        examples = []
        for position in positions[: self.source.problems.listed].tolist():
            row, field = self.of(position)
            file, file_row = self.source.locate(row)
            field = self.source.named(row, field) or field
            text = message(position) if callable(message) else message
            if values is not None:
                text = text.replace("{value}", quote_value(values[position]))
            examples.append(Problem(severity, file, file_row, field, text, remedy))
        self.source.problems.add_many(examples, len(positions), table=self.source.label)
