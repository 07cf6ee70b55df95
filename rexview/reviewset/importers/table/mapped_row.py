"""One row of a table by what its columns mean, and what of it is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from rexview.reviewset.importers.core.report_text import absent
from rexview.reviewset.importers.table.sheet import Row
from rexview.reviewset.tables.source import At

Value = TypeVar("Value")


class MappedRow:
    """The cells of a row by field; what was taken is no longer left.

    ``fields`` has the column of each field that is mapped.
    """

    def __init__(self, row: Row, fields: Mapping[str, str], at: At) -> None:
        self.row, self.fields, self.at = row, fields, at
        self._left = {column: cell for column, cell in row.cells.items() if cell is not None}

    def peek(self, field: str) -> str | None:
        """Return the cell of a field, which stays; None where there is none or it is empty."""
        column = self.fields.get(field)
        return None if column is None else self.row.cells[column] or None

    def value(self, field: str) -> Any:
        """Return the value of a field as its file has it, which stays."""
        column = self.fields.get(field)
        return None if column is None else self.row.value(column)

    def take(self, field: str) -> str | None:
        """Return the cell of a field, and note that it was used."""
        column = self.fields.get(field)
        return None if column is None else self.take_column(column)

    def take_column(self, column: str) -> str | None:
        """Return a cell, and note that it was used."""
        self._left.pop(column, None)
        return self.row.cells[column]

    def rewrite(self, field: str, text: str) -> None:
        """Put a text in the place of a value that holds it in another form."""
        column = self.fields[field]
        given = {**self.row.given, column: text} if column in self.row.given else self.row.given
        self.row = replace(self.row, cells={**self.row.cells, column: text}, given=given)

    def read(self, field: str, read: Callable[[str], Value | None]) -> Value | None:
        """Return what a cell says; one that cannot be read is left, unless it says nothing."""
        cell = self.peek(field)
        value = None if cell is None or absent(cell) else read(cell)
        if value is not None or absent(cell):
            self.take(field)
        return value

    def keep(self, *columns: str) -> dict[str, Any]:
        """Take those of some columns that are left, as their file has them."""
        kept = [column for column in columns if column in self._left]
        for column in kept:
            del self._left[column]
        return {column: self.row.value(column) for column in kept}

    @property
    def left(self) -> list[str]:
        """Columns that hold something which was not used."""
        return list(self._left)

    def warn(self, message: str, remedy: str, field: str | None, rows: Any) -> None:
        """Log a warning about a cell of the row."""
        column = None if field is None else self.fields.get(field, field)
        rows.log.warning(self.at.file, message, remedy, row=self.at.row, field=column)
