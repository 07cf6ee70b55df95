"""Read one table in any format into its declared columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rexview.columns import DeclaredColumn, DeclaredTable
from rexview.errors import Problem, Severity
from rexview.reviewset.json_text import JsonError, dump_json, is_missing, parse_json
from rexview.reviewset.problems import quote_value
from rexview.reviewset.tables import values as nested
from rexview.reviewset.tables.source import (
    MAX_COLUMNS,
    TOO_MANY_COLUMNS,
    ColumnLocation,
    Positions,
    TableFormat,
    TablePart,
    TableSource,
    Values,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from rexview.reviewset.tables.parquet import ParquetParts


# Fast path for JSON Lines: read by column, several times faster than line by line.
#
# It accepts only a file in which each value has the type of its column, and each field has a
# column. Any other file is read line by line, which takes longer and reports what is wrong.

MIN_TYPED_BYTES: Final = 1_000_000
"""Smaller files are read line by line: that takes no time."""
MAX_TYPED_BYTES: Final = 256_000_000
"""Larger files are read in chunks, so that memory stays bounded."""


def read_typed_jsonl(path: Path, table: DeclaredTable, longest_line: int) -> pl.DataFrame | None:
    """Read a JSON Lines file whose values have the types of their columns.

    Parameters
    ----------
    path : Path
    table : Table
    longest_line : int
        In bytes.

    Returns
    -------
    polars.DataFrame or None
        One row a line, with the columns that have any value and the required ones. None if the file
        is small, very large, or has any value or field that the types do not allow.
    """
    try:
        if not MIN_TYPED_BYTES <= path.stat().st_size <= MAX_TYPED_BYTES:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    import pyarrow as pa  # small sets open without it
    from pyarrow import json

    lines = _lines(content, longest_line)
    if lines is None:
        return None
    schema = pa.schema(
        [(column.name, kind) for column in table.columns if (kind := _type_of(column)) is not None]
    )
    try:
        found = json.read_json(
            pa.BufferReader(content),
            read_options=json.ReadOptions(block_size=longest_line),
            parse_options=json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="error"
            ),
        )
        found.validate(full=True)  # texts are UTF-8
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    if found.num_rows != lines:
        return None
    given = [
        name
        for name in found.column_names
        if table.by_name[name].required or found[name].null_count < lines
    ]
    frame = pl.from_arrow(found.select(given))
    assert isinstance(frame, pl.DataFrame)
    return frame


def _lines(content: bytes, longest_line: int) -> int | None:
    """Count the lines; None unless each is one object and not too long."""
    if not (content.startswith(b"{") and content.endswith(b"}\n")):
        return None
    ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n"))
    if content.count(b"}\n{") + 1 != len(ends):  # no JSON text contains a line break
        return None
    if np.diff(ends, prepend=-1).max() > longest_line:
        return None
    return len(ends)


def _type_of(column: DeclaredColumn) -> pa.DataType | None:
    """Return the type of a column; None for a column of objects with any fields."""
    import pyarrow as pa

    if column.kind not in ("record", "records"):
        plain = {
            **dict.fromkeys(("id", "text", "word", "date"), pa.string()),
            "integer": pa.int64(),
            "number": pa.float64(),
            "yes_no": pa.bool_(),
            "texts": pa.list_(pa.string()),
            "box": pa.list_(pa.float64()),
        }
        return plain.get(column.kind)
    parts = {part.name: _type_of(part) for part in column.fields}
    fields = [(name, kind) for name, kind in parts.items() if kind is not None]
    struct = pa.struct(fields)
    return struct if column.kind == "record" else pa.list_(struct)


# Read table files in chunks of rows: JSON Lines, CSV and Parquet.
#
# JSON Lines has one object a line, and row numbers are line numbers. CSV has a header line, then
# one row a record, with nested fields as JSON in their cell. Commas separate; semicolons and tabs
# are recognised by the header. A text with line breaks is one row. A table of several parts is read
# in their order.

CHUNK_ROWS: Final = 50_000
"""Rows in one chunk of a text format, so that memory stays bounded."""
CHUNK_CELLS: Final = 5_000_000
CHUNK_BYTES: Final = 64_000_000
"""The same limit for cells, including empty ones, and for bytes: parsed JSON takes thirty times its
text."""
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
class TableChunk:
    """Columns by name: lists of parsed JSON values or cell texts, or typed series.

    ``rows`` are row numbers in the whole table; while a part is read, in the part. ``header`` is
    True if all rows share one list of columns, so that a whole column can be missing.
    """

    columns: dict[str, Values]
    rows: Positions
    header: bool


class OpenPart:
    """One part of a table while it is read, and the receiver of its problems.

    Parameters
    ----------
    source : TableSource
    part : TablePart or None
        None for the rows of an import.
    start : int
        The last row of the whole table before this part.
    parquet : ParquetParts or None
        The reader for a Parquet file.
    """

    def __init__(
        self, source: TableSource, part: TablePart | None, start: int, parquet: ParquetParts | None
    ) -> None:
        self._source, self._part, self._start = source, part, start
        self._parquet = parquet
        self.last = start
        self.grows = part is not None and part.grows

    def chunks(self, table: DeclaredTable) -> Iterator[TableChunk]:
        """Read the part, its rows numbered through the whole table."""
        for chunk in self._read(table):
            rows = chunk.rows + self._start
            self.last = int(rows[-1]) if len(rows) else self.last
            yield TableChunk(chunk.columns, rows, chunk.header)

    def _read(self, table: DeclaredTable) -> Iterator[TableChunk]:
        if self._part is None:
            yield from _read_rows(self._source, table)
            return
        if self._part.format == "parquet":
            yield from self._read_parquet(self._part.path)
            return
        if self._part.format == "jsonl" and not self.grows:
            frame = read_typed_jsonl(self._part.path, table, MAX_LINE_BYTES)
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

    def _read_parquet(self, path: Path) -> Iterator[TableChunk]:
        from rexview.reviewset.tables.parquet import UnreadableError

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
    """Open the parts of a table in their order; read each one before taking the next."""
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
    """Return the reader of a table's Parquet parts; None for most small sets."""
    if all(part.format != "parquet" for part in source.parts):
        return None
    from rexview.reviewset.tables.parquet import ParquetParts

    return ParquetParts(source.parts, reader)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _chunk_of_frame(frame: pl.DataFrame, *, header: bool) -> TableChunk:
    rows = np.arange(1, 1 + frame.height, dtype=np.int64)
    return TableChunk({name: frame[name] for name in frame.columns}, rows, header)


def _read_jsonl(file: IO[bytes], part: OpenPart, table: DeclaredTable) -> Iterator[TableChunk]:
    """Skip blank lines, report invalid lines."""
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
        if _is_chunk_full(len(objects), len(names), size):
            yield _chunk_of_objects(objects, rows, table)
            objects, rows, size = [], [], 0
    if objects:
        yield _chunk_of_objects(objects, rows, table)


def _is_chunk_full(rows: int, columns: int, size: int = 0) -> bool:
    """True if a chunk is full by its number of rows, cells or bytes."""
    return rows >= CHUNK_ROWS or rows * columns > CHUNK_CELLS or size > CHUNK_BYTES


def _is_being_written(line: bytes, part: OpenPart) -> bool:
    """True if a line is the incomplete last line of an answers part that a run writes to."""
    if not part.grows or line.endswith(b"\n"):
        return False
    try:
        return bool(line.strip()) and not isinstance(
            parse_json(line.decode("utf-8").rstrip()), dict
        )
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
        found = parse_json(text.rstrip())
    except JsonError as error:
        part.error(f"The line is not JSON: {error}.", _OBJECTS, row=row)
        return None
    if not isinstance(found, dict):
        part.error("The line is not a JSON object.", _OBJECTS, row=row)
        return None
    return found


def _chunk_of_objects(
    objects: Sequence[Mapping[str, Any]], rows: Sequence[int], table: DeclaredTable
) -> TableChunk:
    names = dict.fromkeys(name for found in objects for name in found)
    names |= dict.fromkeys(column.name for column in table.columns if column.required)
    columns: dict[str, Any] = {name: [found.get(name) for found in objects] for name in names}
    return TableChunk(columns, np.array(rows, dtype=np.int64), header=False)


class _CsvLines:
    """The decoded lines of a CSV file; remembers invalid UTF-8 since the last check."""

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
        """True if a line was not UTF-8 since the last call."""
        broken, self._broken = self._broken, False
        return broken


def _read_csv(file: IO[bytes], part: OpenPart, table: DeclaredTable) -> Iterator[TableChunk]:
    """Report rows with too few or too many cells."""
    csv.field_size_limit(MAX_LINE_BYTES)
    first = file.readline(MAX_LINE_BYTES + 1)
    if _is_too_long(first, part, None) or _is_utf16(first, part):
        return
    first = first.removeprefix(_UTF8_BOM)
    if first:
        lines = _CsvLines(file, first)
        separator = _separator(first.decode("utf-8", errors="replace"), table)
        records = csv.reader(iter(lines), delimiter=separator, strict=True)
        yield from _csv_chunks(records, lines, part)


def _separator(header: str, table: DeclaredTable) -> str:
    def known(separator: str) -> int:
        return sum(name.strip(' "\r\n') in table.by_name for name in header.split(separator))

    return max((",", ";", "\t"), key=known)


def _csv_chunks(records: Any, lines: _CsvLines, part: OpenPart) -> Iterator[TableChunk]:
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
        if _is_chunk_full(len(cells), len(names), size):
            yield _chunk_of_cells(names, cells, rows)
            cells, rows, size = [], [], 0
    if names is not None:
        yield _chunk_of_cells(names, cells, rows)


def _header(record: list[str], part: OpenPart) -> list[str]:
    names = [name.strip() or f"column_{place}" for place, name in enumerate(record, start=1)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        message = f"The header names the column {quote_value(name)} twice."
        part.error(message, "Rename or remove one of them.", field=name)
    return names


def _chunk_of_cells(names: list[str], cells: list[list[str]], rows: list[int]) -> TableChunk:
    by_column = zip(*cells, strict=True) if cells else [()] * len(names)
    columns: dict[str, Values] = {
        name: [value or None for value in values]
        for name, values in zip(names, by_column, strict=True)
    }
    return TableChunk(columns, np.array(rows, dtype=np.int64), header=True)


def _read_rows(source: TableSource, table: DeclaredTable) -> Iterator[TableChunk]:
    """Yield the rows made by an import."""
    for start in range(0, len(source.rows), CHUNK_ROWS):
        objects = source.rows[start : start + CHUNK_ROWS]
        yield _chunk_of_objects(objects, range(start + 1, start + 1 + len(objects)), table)


_READERS: Final[
    dict[TableFormat, Callable[[IO[bytes], OpenPart, DeclaredTable], Iterator[TableChunk]]]
] = {
    "jsonl": _read_jsonl,
    "csv": _read_csv,
}


def _is_utf16(first_bytes: bytes, part: OpenPart) -> bool:
    """Report a file that starts like UTF-16, which spreadsheets write as "Unicode text"."""
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
    """Report a line that is longer than the limit."""
    if len(line) <= MAX_LINE_BYTES:
        return False
    message = f"The line is longer than {MAX_LINE_BYTES / 1e6:g} MB."
    part.error(message, "Check that lines end where rows do.", row=row)
    return True


def read_declared_table(
    source: TableSource,
    table: DeclaredTable,
    move_texts: Callable[[str, list[pl.DataFrame]], None] = lambda name, parts: None,
) -> pl.DataFrame:
    """Read a table.

    Parameters
    ----------
    source, table
    move_texts : callable
        Called with the table's name and its parts so far after each part; it may replace them by
        other frames of the same content.

    Returns
    -------
    pl.DataFrame
        All declared columns with their declared types, ``extra`` (unknown fields as one JSON
        object, null if there are none) and ``_row`` (UInt32, from 1). Invalid values were reported
        and are null. A column without any value is one constant, which takes no memory until it is
        used as a series.
    """
    parts: list[pl.DataFrame] = []
    told: set[str] = set()
    for part in open_parts(source):
        unknown: set[str] = set()
        missing: set[str] = set()
        for chunk in part.chunks(table):
            unknown |= chunk.columns.keys() - table.by_name.keys()
            if chunk.header:
                missing |= table.by_name.keys() - chunk.columns.keys()
            parts.append(_frame(chunk, table, source))
            del chunk
            move_texts(table.name, parts)
        _report_missing(table, unknown, missing, part)
        if not source.is_import:  # an import reports itself what it kept unchanged
            _report_unknown(table, unknown - told, missing, part)
        told |= unknown
    return _join_parts(parts, table)


def _join_parts(parts: list[pl.DataFrame], table: DeclaredTable) -> pl.DataFrame:
    """Join parts, each of which may lack columns."""
    whole = empty_table(table)
    if not parts:
        return whole
    given = {name for part in parts for name in part.columns}
    columns = [column for column in _declared(table) if column.name in given]
    filled = [
        part.with_columns(
            one.absent_everywhere() for one in columns if one.name not in part.columns
        )
        for part in parts
    ]
    order = [name for name in whole.columns if name in given]
    return (
        pl.concat(part.select(order) for part in filled)
        .with_columns(one.absent_everywhere() for one in _declared(table) if one.name not in given)
        .select(whole.columns)
    )


def _declared(table: DeclaredTable) -> Iterator[DeclaredColumn]:
    """Yield the columns of a table; its ``extra`` is text by now."""
    for column in table.columns:
        yield DeclaredColumn("extra", "text", column.meaning) if column.name == "extra" else column


def empty_table(table: DeclaredTable) -> pl.DataFrame:
    """Return the table without rows."""
    return table.empty


def _frame(chunk: TableChunk, table: DeclaredTable, source: TableSource) -> pl.DataFrame:
    height = len(chunk.rows)
    columns: dict[str, pl.Series] = {}
    leftovers: dict[int, dict[str, Any]] = {}
    for column in table.columns:
        if column.name not in chunk.columns:
            continue
        location = ColumnLocation(source, column.name, chunk.rows, required=column.required)
        values = chunk.columns.pop(column.name)
        columns[column.name], inner = nested.conform_column(values, column, location)
        for position, rest in inner.items():
            into = leftovers.setdefault(position, {})
            into |= rest if column.kind == "object" else {column.name: rest}
    for row, unfit in source.unfit.items():
        position = int(np.searchsorted(chunk.rows, row))
        if position < height and chunk.rows[position] == row:
            leftovers.setdefault(position, {}).update(unfit)
    columns.pop("extra", None)  # its content went to the leftovers
    if (extra := _extra(chunk, leftovers, height)).null_count() < height:
        columns["extra"] = extra
    columns["_row"] = pl.Series(chunk.rows).cast(pl.UInt32)
    return pl.DataFrame(columns)


def _extra(chunk: TableChunk, leftovers: dict[int, dict[str, Any]], height: int) -> pl.Series:
    """Collect the leftovers of the chunk and of nested columns as JSON with sorted names."""
    typed = {
        name: values for name, values in chunk.columns.items() if isinstance(values, pl.Series)
    }
    extra = _typed_extra(typed, height)
    given = {name: values for name, values in chunk.columns.items() if isinstance(values, list)}
    found: dict[int, dict[str, Any]] = {}
    for name, values in given.items():
        for position, value in enumerate(values):
            if not is_missing(value):
                found.setdefault(position, {})[name] = value
    for position, rest in leftovers.items():
        found.setdefault(position, {}).update(rest)
    if not found:
        return extra
    positions = sorted(found)
    texts = []
    for position in positions:
        before = extra[position]
        rest = (json.loads(before) if before else {}) | found[position]
        texts.append(dump_json(dict(sorted(rest.items()))))
    return extra.scatter(np.array(positions), pl.Series(texts, dtype=pl.String))


def _typed_extra(columns: dict[str, pl.Series], height: int) -> pl.Series:
    parts = []
    for name in sorted(columns):
        series = columns[name]
        if isinstance(series.dtype, pl.Categorical | pl.Enum) or series.dtype.is_temporal():
            series = series.cast(pl.String)
        elif series.dtype == pl.Binary:
            series = series.bin.encode("base64")
        elif series.dtype.is_float():
            series = series.fill_nan(None)
        entry = pl.DataFrame({name: series}).to_struct().struct.json_encode().str.slice(1)
        parts.append(
            pl.select(pl.when(series.is_not_null()).then(entry.str.head(-1)))
            .to_series()
            .alias(name)
        )
    if not parts:
        return pl.Series("extra", [None], dtype=pl.String).new_from_index(0, height)
    joined = pl.DataFrame(parts).select(
        pl.concat_str(pl.all(), separator=",", ignore_nulls=True).alias("extra")
    )
    return joined.select(
        pl.when(pl.col("extra") != "").then("{" + pl.col("extra") + "}").alias("extra")
    ).to_series()


def _report_missing(
    table: DeclaredTable, unknown: set[str], missing: set[str], part: OpenPart
) -> None:
    for column in table.columns:
        if column.required and column.name in missing:
            near = get_close_matches(
                column.name, {name.lower() for name in unknown}, n=1, cutoff=0.8
            )
            hint = f" There is {quote_value(near[0])}." if near else ""
            remedy = f"Add the column {column.name}, or rename the one that holds it."
            message = f"There is no column {column.name}.{hint}"
            part.error(message, remedy, field=column.name)


def _report_unknown(
    table: DeclaredTable, unknown: set[str], missing: set[str], part: OpenPart
) -> None:
    """Report unknown fields whose names are nearly those of known ones."""
    for name in sorted(unknown):
        near = get_close_matches(name.strip().lower(), table.by_name, n=1, cutoff=0.85)
        if near and not (table.by_name[near[0]].required and near[0] in missing):
            message = f"The field {quote_value(name)} is not known and is kept as it is."
            part.warning(message, f"Rename it if {near[0]} is meant.", field=name)
