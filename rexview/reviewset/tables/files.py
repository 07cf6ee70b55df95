"""Table files read a stretch of rows at a time: JSON Lines, CSV and Parquet.

JSON Lines has one object a line, and row numbers are line numbers. CSV has a header line, then one
row a record, with nested fields as JSON in their cell; commas separate, semicolons and tabs are
understood where the header shows them, and a text with line breaks is one row. Parquet is one file,
or a folder of parts that are read in the order of their names.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import polars as pl

from rexview.columns import Table
from rexview.reviewset.json_text import JsonError, parse
from rexview.reviewset.problems import quoted
from rexview.reviewset.tables.source import Positions, TableSource, Values

CHUNK_ROWS: Final = 50_000
"""Rows that text formats hand over at a time, so that memory stays bounded."""
MAX_ROWS: Final = 5_000_000
"""Rows of one Parquet part."""
MAX_COLUMNS: Final = 2000
"""Different fields that a table may have; the declared ones are 20."""
READ_AHEAD_BYTES: Final = 64_000_000
"""Size of a Parquet part that may be read while the one before is still in memory."""
MAX_LINE_BYTES: Final = 16_000_000
"""Longest line of a text format: a case or an answer is a thousandth of that."""
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM: Final = b"\xef\xbb\xbf"
_SAVE_AS_UTF8: Final = "Save the file as UTF-8."
_OBJECTS: Final = "Write one complete JSON object in curly brackets on each line."
_QUOTES: Final = (
    "Put texts with commas, quotes or line breaks in double quotes; double the quotes in them."
)
_TOO_MANY_COLUMNS: Final = (
    f"The table has more than {MAX_COLUMNS:,} different fields.",
    "Keep what belongs to a case or an answer; put the rest into one field.",
)


@dataclass(frozen=True)
class Chunk:
    """Columns by name: lists of parsed JSON values or cell texts, or typed series.

    ``rows`` are row numbers in the whole table. ``header`` says that the file has one list of
    columns for all rows, so that a column can be missing as such.
    """

    columns: dict[str, Values]
    rows: Positions
    header: bool


def _read_jsonl(source: TableSource, table: Table) -> Iterator[Chunk]:
    """Skip blank lines, report lines that fail."""
    objects: list[dict[str, Any]] = []
    rows: list[int] = []
    names: dict[str, None] = {}
    with source.files[0].open("rb") as file:
        lines = iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
        for row, line in enumerate(lines, start=1):
            if _is_too_long(line, source, row):
                return
            if row == 1:
                if _is_utf16(line, source):
                    return
                line = line.removeprefix(_UTF8_BOM)
                if line.lstrip().startswith(b"["):
                    message = "The file is one JSON list, or has lists for rows."
                    source.error(message, _OBJECTS, row=row)
                    return
            found = _json_object(line, row, source)
            if found is not None:
                objects.append(found)
                rows.append(row)
                names.update(dict.fromkeys(found))
                if _has_too_many_columns(len(names), source, row=row):
                    return
            if len(objects) >= CHUNK_ROWS:
                yield _chunk_of_objects(objects, rows, table)
                objects, rows = [], []
    if objects:
        yield _chunk_of_objects(objects, rows, table)


def _json_object(line: bytes, row: int, source: TableSource) -> dict[str, Any] | None:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        _report_not_utf8(source, row)
        return None
    if not text.strip():
        return None
    try:
        found = parse(text.rstrip())
    except JsonError as error:
        source.error(f"The line is not JSON: {error}.", _OBJECTS, row=row)
        return None
    if not isinstance(found, dict):
        source.error("The line is not a JSON object.", _OBJECTS, row=row)
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


def _read_csv(source: TableSource, table: Table) -> Iterator[Chunk]:
    """Report rows with too few or too many cells."""
    csv.field_size_limit(MAX_LINE_BYTES)
    with source.files[0].open("rb") as file:
        first = file.readline(MAX_LINE_BYTES + 1)
        if _is_too_long(first, source, None) or _is_utf16(first, source):
            return
        first = first.removeprefix(_UTF8_BOM)
        if first:
            lines = _Lines(file, first)
            separator = _separator(first.decode("utf-8", errors="replace"), table)
            records = csv.reader(iter(lines), delimiter=separator, strict=True)
            yield from _csv_chunks(records, lines, source)


def _separator(header: str, table: Table) -> str:
    def known(separator: str) -> int:
        return sum(name.strip(' "\r\n') in table.by_name for name in header.split(separator))

    return max((",", ";", "\t"), key=known)


def _csv_chunks(records: Any, lines: _Lines, source: TableSource) -> Iterator[Chunk]:
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
            source.error(f"The row is not CSV: {error}.", _QUOTES, row=row + 1 if names else None)
            break
        broken = lines.were_broken()
        if names is None:
            if _has_too_many_columns(len(record), source):
                return
            names = _header(record, source)
            continue
        if not any(record):
            row += bool(record)
            continue
        row += 1
        if broken:
            _report_not_utf8(source, row)
        elif len(record) != len(names):
            message = f"The row has {len(record)} cells, the header has {len(names)}."
            source.error(message, _QUOTES, row=row)
        else:
            cells.append(record)
            rows.append(row)
        if len(cells) >= CHUNK_ROWS:
            yield _chunk_of_cells(names, cells, rows)
            cells, rows = [], []
    if names is not None:
        yield _chunk_of_cells(names, cells, rows)


def _header(record: list[str], source: TableSource) -> list[str]:
    names = [name.strip() or f"column_{place}" for place, name in enumerate(record, start=1)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        message = f"The header names the column {quoted(name)} twice."
        source.error(message, "Rename or remove one of them.", field=name)
    return names


def _chunk_of_cells(names: list[str], cells: list[list[str]], rows: list[int]) -> Chunk:
    by_column = zip(*cells, strict=True) if cells else [()] * len(names)
    columns: dict[str, Values] = {
        name: [value or None for value in values]
        for name, values in zip(names, by_column, strict=True)
    }
    return Chunk(columns, np.array(rows, dtype=np.int64), header=True)


class _UnreadableError(Exception):
    """Why a part cannot be read, and what to do; it is reported when its turn comes."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


def _read_parquet(source: TableSource, table: Table) -> Iterator[Chunk]:
    """Hand over each part as one chunk; report a part that cannot be read.

    The next part is read while the one before is worked on, unless that would take much memory.
    """
    last = 0
    with ThreadPoolExecutor(max_workers=1) as reader:
        ahead: Future[pl.DataFrame] | None = None
        for part, path in enumerate(source.files):
            reading = ahead or reader.submit(_parquet_part, path)
            try:
                frame = reading.result()
            except _UnreadableError as error:
                label = source.part_label(part)
                source.problems.add("error", label, error.message, error.remedy)
                frame = None
            ahead = None
            for following in source.files[part + 1 : part + 2]:
                if _size(following) <= READ_AHEAD_BYTES:
                    ahead = reader.submit(_parquet_part, following)
            del reading  # which holds the part
            if frame is not None:
                rows = np.arange(last + 1, last + 1 + frame.height, dtype=np.int64)
                columns: dict[str, Any] = {name: frame[name] for name in frame.columns}
                del frame
                yield Chunk(columns, rows, header=True)
                last += len(rows)
            source.end_part(last)


def _size(path: Path) -> float:
    try:
        return path.stat().st_size
    except OSError:  # which is told when its turn comes
        return inf


def _parquet_part(path: Path) -> pl.DataFrame:
    try:
        # what a part says of itself comes first: a kilobyte can stand for any number of equal rows
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        if len(scan.collect_schema()) > MAX_COLUMNS:
            raise _UnreadableError(*_TOO_MANY_COLUMNS)
        rows = scan.select(pl.len()).collect().item()
        if rows <= MAX_ROWS:
            return pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError):
        message = "The file is damaged, or is not a Parquet file."
        raise _UnreadableError(message, "Write it again.") from None
    message = f"The file has {rows:,} rows, more than can be opened ({MAX_ROWS:,})."
    raise _UnreadableError(message, "Divide it into several review sets.")


def _read_rows(source: TableSource, table: Table) -> Iterator[Chunk]:
    """Hand over the rows that an import made."""
    for start in range(0, len(source.rows), CHUNK_ROWS):
        objects = source.rows[start : start + CHUNK_ROWS]
        yield _chunk_of_objects(objects, range(start + 1, start + 1 + len(objects)), table)


READERS: Final[dict[str, Callable[[TableSource, Table], Iterator[Chunk]]]] = {
    "jsonl": _read_jsonl,
    "csv": _read_csv,
    "parquet": _read_parquet,
    "rows": _read_rows,
}
"""Readers by the format of a table's file."""


def _is_utf16(first_bytes: bytes, source: TableSource) -> bool:
    """Report a file that begins as UTF-16 does, as spreadsheets write "Unicode text"."""
    if not first_bytes.startswith(_UTF16):
        return False
    source.error("The file is UTF-16, not UTF-8.", _SAVE_AS_UTF8)
    return True


def _report_not_utf8(source: TableSource, row: int) -> None:
    message = "The row has letters that are not UTF-8; the file was saved in another encoding."
    source.error(message, _SAVE_AS_UTF8, row=row)


def _has_too_many_columns(count: int, source: TableSource, row: int | None = None) -> bool:
    if count <= MAX_COLUMNS:
        return False
    source.error(*_TOO_MANY_COLUMNS, row=row)
    return True


def _is_too_long(line: bytes, source: TableSource, row: int | None) -> bool:
    """Report a line that goes on beyond what is read of it."""
    if len(line) <= MAX_LINE_BYTES:
        return False
    message = f"The line is longer than {MAX_LINE_BYTES / 1e6:g} MB."
    source.error(message, "Check that lines end where rows do.", row=row)
    return True
