"""CSV: a header line, then one row a record; nested fields are JSON in their cell.

Commas separate; semicolons and tabs are understood where the header shows them. Row numbers count
the data rows, so a text with line breaks is one row.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import IO, Any, Final

import numpy as np

from rexview.reviewset.problems import ProblemList, quoted
from rexview.reviewset.sources import TableSource
from rexview.reviewset.tables.chunk import (
    MAX_LINE_BYTES,
    ROWS,
    UTF8_BOM,
    Chunk,
    is_utf16,
    not_utf8,
    too_long_line,
    too_many_columns,
)
from rexview.reviewset.tables.column import Table

_QUOTES: Final = (
    "Put texts with commas, quotes or line breaks in double quotes; double the quotes in them."
)


class _Lines:
    """The decoded lines of a file; remembers whether any since the last look was not UTF-8."""

    def __init__(self, file: IO[bytes], first: bytes) -> None:
        self._file = file
        self._first: bytes | None = first
        self._broken = False

    def __iter__(self) -> Iterator[str]:
        if self._first is not None:
            yield self._decoded(self._first)
            self._first = None
        for line in iter(lambda: self._file.readline(MAX_LINE_BYTES + 1), b""):
            if len(line) > MAX_LINE_BYTES:
                raise csv.Error(f"the line is longer than {MAX_LINE_BYTES / 1e6:g} MB")
            yield self._decoded(line)

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self._broken = True
            return line.decode("utf-8", errors="replace")

    def were_broken(self) -> bool:
        """Whether a line was not UTF-8 since this was asked last."""
        broken, self._broken = self._broken, False
        return broken


def read(source: TableSource, table: Table, problems: ProblemList) -> Iterator[Chunk]:
    """Read the rows, a chunk at a time. Rows with too few or too many cells are reported."""
    csv.field_size_limit(MAX_LINE_BYTES)
    with source.files[0].open("rb") as file:
        first = file.readline(MAX_LINE_BYTES + 1)
        if too_long_line(first, source.label, None, problems):
            return
        if is_utf16(first, source.label, problems):
            return
        first = first.removeprefix(UTF8_BOM)
        if not first:
            return
        lines = _Lines(file, first)
        separator = _separator(first.decode("utf-8", errors="replace"), table)
        records = csv.reader(iter(lines), delimiter=separator, strict=True)
        yield from _chunks(records, lines, source.label, problems)


def _separator(header: str, table: Table) -> str:
    def known(separator: str) -> int:
        return sum(name.strip(' "\r\n') in table.by_name for name in header.split(separator))

    return max((",", ";", "\t"), key=known)


def _chunks(records: Any, lines: _Lines, label: str, problems: ProblemList) -> Iterator[Chunk]:
    names: list[str] | None = None
    cells: list[list[str]] = []
    rows: list[int] = []
    row = 0
    while True:
        try:
            record = next(records)
        except StopIteration:
            break
        except csv.Error as error:
            message = f"The row is not CSV: {error}."
            problems.add("error", label, message, _QUOTES, row=row + 1 if names else None)
            break
        broken = lines.were_broken()
        if names is None:
            if too_many_columns(len(record), label, problems):
                return
            names = _header(record, label, problems)
            continue
        if not any(record):
            row += bool(record)
            continue
        row += 1
        if broken:
            not_utf8(label, row, problems)
        elif len(record) != len(names):
            message = f"The row has {len(record)} cells, the header has {len(names)}."
            problems.add("error", label, message, _QUOTES, row=row)
        else:
            cells.append(record)
            rows.append(row)
        if len(cells) >= ROWS:
            yield _chunk(names, cells, rows)
            cells, rows = [], []
    if names is not None:
        yield _chunk(names, cells, rows)


def _header(record: list[str], label: str, problems: ProblemList) -> list[str]:
    names = [name.strip() or f"column_{place}" for place, name in enumerate(record, start=1)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(
            "error",
            label,
            f"The header names the column {quoted(name)} twice.",
            "Rename or remove one of them.",
            field=name,
        )
    return names


def _chunk(names: list[str], cells: list[list[str]], rows: list[int]) -> Chunk:
    columns: dict[str, Any] = {}
    for name, values in zip(
        names, zip(*cells, strict=True) if cells else [()] * len(names), strict=True
    ):
        columns[name] = [value or None for value in values]
    return Chunk(columns, np.array(rows, dtype=np.int64), header=True)
