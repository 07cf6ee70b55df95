"""Table files read a stretch of rows at a time: JSON Lines, CSV and Parquet.

JSON Lines has one object a line, and row numbers are line numbers. CSV has a header line, then one
row a record, with nested fields as JSON in their cell; commas separate, semicolons and tabs are
understood where the header shows them, and a text with line breaks is one row. A table of several
parts is read in their order.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rexview.columns import Table
from rexview.errors import Problem, Severity
from rexview.reviewset.json_text import JsonError, parse
from rexview.reviewset.problems import quoted
from rexview.reviewset.tables.json_columns import read_typed
from rexview.reviewset.tables.source import (
    MAX_COLUMNS,
    TOO_MANY_COLUMNS,
    Part,
    Positions,
    TableFormat,
    TableSource,
    Values,
)

if TYPE_CHECKING:
    from rexview.reviewset.tables.parquet import ParquetParts

CHUNK_ROWS: Final = 50_000
"""Rows that text formats hand over at a time, so that memory stays bounded."""
CHUNK_CELLS: Final = 5_000_000
CHUNK_BYTES: Final = 64_000_000
"""The same of cells, empty ones too, and of bytes: parsed JSON takes thirty times its text."""
MAX_LINE_BYTES: Final = 16_000_000
"""Longest line of a text format: a case or an answer is a thousandth of that."""
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM: Final = b"\xef\xbb\xbf"
_SAVE_AS_UTF8: Final = "Save the file as UTF-8."
_OBJECTS: Final = "Write one complete JSON object in curly brackets on each line."
_BEING_WRITTEN: Final = "The last line is not whole, as while a run writes it, and is passed over."
_RESUME: Final = "Nothing while a run goes on; else python -m rexview run SET … --resume mends it."
_QUOTES: Final = (
    "Put texts with commas, quotes or line breaks in double quotes; double the quotes in them."
)


@dataclass(frozen=True)
class Chunk:
    """Columns by name: lists of parsed JSON values or cell texts, or typed series.

    ``rows`` are row numbers in the whole table; while a part is read, in the part. ``header`` says
    that it has one list of columns for all rows, so that a column can be missing as such.
    """

    columns: dict[str, Values]
    rows: Positions
    header: bool


class OpenPart:
    """One part of a table while it is read, and where its problems go.

    Parameters
    ----------
    source : TableSource
    part : Part or None
        None for the rows of an import.
    start : int
        The last row of the whole table before this part.
    parquet : ParquetParts or None
        What reads it if it is a Parquet file.
    """

    def __init__(
        self, source: TableSource, part: Part | None, start: int, parquet: ParquetParts | None
    ) -> None:
        self._source, self._part, self._start = source, part, start
        self._parquet = parquet
        self.last = start
        self.grows = part is not None and part.grows

    def chunks(self, table: Table) -> Iterator[Chunk]:
        """Read the part, its rows numbered through the whole table."""
        for chunk in self._read(table):
            rows = chunk.rows + self._start
            self.last = int(rows[-1]) if len(rows) else self.last
            yield Chunk(chunk.columns, rows, chunk.header)

    def _read(self, table: Table) -> Iterator[Chunk]:
        if self._part is None:
            yield from _read_rows(self._source, table)
            return
        if self._part.format == "parquet":
            yield from self._read_parquet(self._part.path)
            return
        if self._part.format == "jsonl" and not self.grows:
            frame = read_typed(self._part.path, table, MAX_LINE_BYTES)
            if frame is not None:
                yield _chunk_of_frame(frame, header=False)
                return
        try:
            before = self._source.read_bytes
            with self._part.path.open("rb") as file:
                for chunk in _READERS[self._part.format](file, self, table):
                    self._source.read_bytes = before + file.tell()
                    yield chunk
        except OSError as error:
            message = f"The file cannot be read: {error.strerror or error}."
            self.error(message, "See to it that the app may read it.")

    def _read_parquet(self, path: Path) -> Iterator[Chunk]:
        from rexview.reviewset.tables.parquet_size import UnreadableError

        assert self._parquet is not None
        try:
            frame = self._parquet.read(path)
        except UnreadableError as error:
            self.error(error.message, error.remedy)
            return
        yield _chunk_of_frame(frame, header=True)

    def error(
        self, message: str, remedy: str, *, row: int | None = None, field: str | None = None
    ) -> None:
        """Report an error of the part, or of one row of it."""
        self._report("error", message, remedy, row, field)

    def warning(
        self, message: str, remedy: str, *, row: int | None = None, field: str | None = None
    ) -> None:
        """Report a warning about the part, or about one row of it."""
        self._report("warning", message, remedy, row, field)

    def _report(
        self, severity: Severity, message: str, remedy: str, row: int | None, field: str | None
    ) -> None:
        label = self._part.label if self._part else self._source.label
        problem = Problem(severity, label, row, field, message, remedy)
        self._source.problems.add_many([problem], 1, table=self._source.label)


def open_parts(source: TableSource) -> Iterator[OpenPart]:
    """Open the parts of a table in their order; each is read before the next is asked for."""
    last = 0
    with ThreadPoolExecutor(max_workers=1) as reader:
        parquet = _parquet_of(source, reader)
        for part in source.parts or (None,):
            before = source.read_bytes
            opened = OpenPart(source, part, last, parquet)
            yield opened
            last = opened.last
            if part is not None:
                source.read_bytes = before + _size_of(part.path)
            source.end_part(last)


def _parquet_of(source: TableSource, reader: ThreadPoolExecutor) -> ParquetParts | None:
    """Return what reads the Parquet parts of a table; most small sets have none."""
    if all(part.format != "parquet" for part in source.parts):
        return None
    from rexview.reviewset.tables.parquet import ParquetParts

    return ParquetParts(source.parts, reader)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _chunk_of_frame(frame: pl.DataFrame, *, header: bool) -> Chunk:
    rows = np.arange(1, 1 + frame.height, dtype=np.int64)
    return Chunk({name: frame[name] for name in frame.columns}, rows, header)


def _read_jsonl(file: IO[bytes], part: OpenPart, table: Table) -> Iterator[Chunk]:
    """Skip blank lines, report lines that fail."""
    objects: list[dict[str, Any]] = []
    rows: list[int] = []
    names: dict[str, None] = {}
    size = 0
    lines = iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
    for row, line in enumerate(lines, start=1):
        if _is_too_long(line, part, row):
            return
        if row == 1:
            if _is_utf16(line, part):
                return
            line = line.removeprefix(_UTF8_BOM)
            if line.lstrip().startswith(b"["):
                message = "The file is one JSON list, or has lists for rows."
                part.error(message, _OBJECTS, row=row)
                return
        if _is_being_written(line, part):
            part.warning(_BEING_WRITTEN, _RESUME, row=row)
            break
        found = _json_object(line, row, part)
        if found is not None:
            objects.append(found)
            rows.append(row)
            names.update(dict.fromkeys(found))
            if _has_too_many_columns(len(names), part, row=row):
                return
        size += len(line)
        if _is_full(len(objects), len(names), size):
            yield _chunk_of_objects(objects, rows, table)
            objects, rows, size = [], [], 0
    if objects:
        yield _chunk_of_objects(objects, rows, table)


def _is_full(rows: int, columns: int, size: int = 0) -> bool:
    """Whether rows are to be handed over, by number, cells or bytes, before memory runs out."""
    return rows >= CHUNK_ROWS or rows * columns > CHUNK_CELLS or size > CHUNK_BYTES


def _is_being_written(line: bytes, part: OpenPart) -> bool:
    """Whether a line is the last of an answers part that a run writes to, and not yet whole."""
    if not part.grows or line.endswith(b"\n"):
        return False
    try:
        return bool(line.strip()) and not isinstance(parse(line.decode("utf-8").rstrip()), dict)
    except (UnicodeDecodeError, JsonError):
        return True


def _json_object(line: bytes, row: int, part: OpenPart) -> dict[str, Any] | None:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        _report_not_utf8(part, row)
        return None
    if not text.strip():
        return None
    try:
        found = parse(text.rstrip())
    except JsonError as error:
        part.error(f"The line is not JSON: {error}.", _OBJECTS, row=row)
        return None
    if not isinstance(found, dict):
        part.error("The line is not a JSON object.", _OBJECTS, row=row)
        return None
    return found


def _chunk_of_objects(
    objects: Sequence[Mapping[str, Any]], rows: Sequence[int], table: Table
) -> Chunk:
    names = dict.fromkeys(name for found in objects for name in found)
    names |= dict.fromkeys(column.name for column in table.columns if column.required)
    columns: dict[str, Any] = {name: [found.get(name) for found in objects] for name in names}
    return Chunk(columns, np.array(rows, dtype=np.int64), header=False)


class _Lines:
    """The decoded lines of a CSV file; remembers whether any since the last look was not UTF-8."""

    def __init__(self, file: IO[bytes], first: bytes) -> None:
        self._file, self._first, self._broken = file, first, False

    def __iter__(self) -> Iterator[str]:
        yield self._decoded(self._first)
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


def _read_csv(file: IO[bytes], part: OpenPart, table: Table) -> Iterator[Chunk]:
    """Report rows with too few or too many cells."""
    csv.field_size_limit(MAX_LINE_BYTES)
    first = file.readline(MAX_LINE_BYTES + 1)
    if _is_too_long(first, part, None) or _is_utf16(first, part):
        return
    first = first.removeprefix(_UTF8_BOM)
    if first:
        lines = _Lines(file, first)
        separator = _separator(first.decode("utf-8", errors="replace"), table)
        records = csv.reader(iter(lines), delimiter=separator, strict=True)
        yield from _csv_chunks(records, lines, part)


def _separator(header: str, table: Table) -> str:
    def known(separator: str) -> int:
        return sum(name.strip(' "\r\n') in table.by_name for name in header.split(separator))

    return max((",", ";", "\t"), key=known)


def _csv_chunks(records: Any, lines: _Lines, part: OpenPart) -> Iterator[Chunk]:
    names: list[str] | None = None
    cells: list[list[str]] = []
    rows: list[int] = []
    row = size = 0
    while True:
        try:
            record = next(records)
        except StopIteration:
            break
        except csv.Error as error:
            part.error(f"The row is not CSV: {error}.", _QUOTES, row=row + 1 if names else None)
            break
        broken = lines.were_broken()
        if names is None:
            if _has_too_many_columns(len(record), part):
                return
            names = _header(record, part)
            continue
        if not any(record):
            row += bool(record)
            continue
        row += 1
        if broken:
            _report_not_utf8(part, row)
        elif len(record) != len(names):
            message = f"The row has {len(record)} cells, the header has {len(names)}."
            part.error(message, _QUOTES, row=row)
        else:
            cells.append(record)
            rows.append(row)
            size += sum(map(len, record))
        if _is_full(len(cells), len(names), size):
            yield _chunk_of_cells(names, cells, rows)
            cells, rows, size = [], [], 0
    if names is not None:
        yield _chunk_of_cells(names, cells, rows)


def _header(record: list[str], part: OpenPart) -> list[str]:
    names = [name.strip() or f"column_{place}" for place, name in enumerate(record, start=1)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        message = f"The header names the column {quoted(name)} twice."
        part.error(message, "Rename or remove one of them.", field=name)
    return names


def _chunk_of_cells(names: list[str], cells: list[list[str]], rows: list[int]) -> Chunk:
    by_column = zip(*cells, strict=True) if cells else [()] * len(names)
    columns: dict[str, Values] = {
        name: [value or None for value in values]
        for name, values in zip(names, by_column, strict=True)
    }
    return Chunk(columns, np.array(rows, dtype=np.int64), header=True)


def _read_rows(source: TableSource, table: Table) -> Iterator[Chunk]:
    """Hand over the rows that an import made."""
    for start in range(0, len(source.rows), CHUNK_ROWS):
        objects = source.rows[start : start + CHUNK_ROWS]
        yield _chunk_of_objects(objects, range(start + 1, start + 1 + len(objects)), table)


_READERS: Final[dict[TableFormat, Callable[[IO[bytes], OpenPart, Table], Iterator[Chunk]]]] = {
    "jsonl": _read_jsonl,
    "csv": _read_csv,
}


def _is_utf16(first_bytes: bytes, part: OpenPart) -> bool:
    """Report a file that begins as UTF-16 does, as spreadsheets write "Unicode text"."""
    if not first_bytes.startswith(_UTF16):
        return False
    part.error("The file is UTF-16, not UTF-8.", _SAVE_AS_UTF8)
    return True


def _report_not_utf8(part: OpenPart, row: int) -> None:
    message = "The row has letters that are not UTF-8; the file was saved in another encoding."
    part.error(message, _SAVE_AS_UTF8, row=row)


def _has_too_many_columns(count: int, part: OpenPart, row: int | None = None) -> bool:
    if count <= MAX_COLUMNS:
        return False
    part.error(*TOO_MANY_COLUMNS, row=row)
    return True


def _is_too_long(line: bytes, part: OpenPart, row: int | None) -> bool:
    """Report a line that goes on beyond what is read of it."""
    if len(line) <= MAX_LINE_BYTES:
        return False
    message = f"The line is longer than {MAX_LINE_BYTES / 1e6:g} MB."
    part.error(message, "Check that lines end where rows do.", row=row)
    return True
