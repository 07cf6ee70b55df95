"""Read tables from any kind of file as one grid.

CSV and TSV are read here, Excel by :mod:`.workbook`, JSON, JSON Lines and Parquet by
:mod:`.records`. A :class:`TableSheet` has unique column names and cells that are text or None, so
that the rest of an import need not know the kind of file. An empty cell of a spreadsheet is None;
an empty text given explicitly in a JSON or Parquet file is ``""``.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from itertools import count
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any, Final, TypeVar
from uuid import UUID

from rexview.errors import FileRefused
from rexview.importers.receipt import ProblemLog
from rexview.importers.source_files import (
    MAX_BYTES,
    MAX_CELLS,
    Probe,
    json_lines,
    read_source_json,
    read_text,
)
from rexview.importers.table.records import (
    Record,
    Records,
    TooManyCells,
    find_record_tables,
    is_batch,
    is_harness_sample,
)
from rexview.importers.table.workbook import NumberedRows, read_workbook, text_of_cell
from rexview.reviewset.json_text import JsonError, dump_json
from rexview.reviewset.report_text import is_absent
from rexview.reviewset.tables.parquet import UnreadableError, check_parquet
from rexview.reviewset.tables.source import MAX_COLUMNS, RowOrigin
from rexview.untrusted_input import safe_file_name

# Tables from files with records: JSON, JSON Lines and Parquet.

JSON_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
PARQUET_SUFFIXES: Final = (".parquet",)
_ROWS_AT_A_TIME: Final = 256
TOO_MANY_CELLS: Final = (
    f"The table has more than {MAX_CELLS:,} cells.",
    "Split it into several files, or leave out columns that are not needed.",
)
_ONE_A_LINE: Final = "Write one complete JSON object on each line."
_KINDS: Final = ((is_batch, "a batch of requests"), (is_harness_sample, "samples of lm-eval"))


def read_json_tables(
    path: Path, log: ProblemLog, file: str, pictures: PictureExtractor, max_rows: int | None = None
) -> list[Records]:
    """Read the tables of a JSON or JSON Lines file; log an error if there are none.

    Pictures inside go to ``pictures``.
    """
    text = read_text(path, log, save_as="UTF-8", label=file)
    if text is None:
        return []
    text = text.lstrip("\ufeff")
    if not text.strip():
        log.error(file, "The file is empty.", "Give the file that holds the data.")
        return []
    try:
        if _is_json_lines(text):
            found = [_json_lines(file, text, log, max_rows)]
        else:
            value = read_source_json(path, log, file)
            if value is None:
                return []
            entries = [*value.values()] if isinstance(value, dict) else value
            _note_kind(file, entries[0] if isinstance(entries, list) and entries else None, log)
            found = find_record_tables(value)
    except TooManyCells:
        log.error(file, *TOO_MANY_CELLS)
        return []
    found = [table for table in found if table.records]
    for table in found:
        for number, record in zip(table.numbers, table.records, strict=True):
            for name, value in record.items():
                record[name] = pictures.taken_out(value, number)
    if not found and not log.has_errors:
        message = "The file has no list or object of records that could be rows of a table."
        log.error(file, message, "Give a list of objects, one for each answer or case.")
    return found


def _is_json_lines(text: str) -> bool:
    """True if the first line is a whole object and another one follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _json_lines(file: str, text: str, log: ProblemLog, max_rows: int | None) -> Records:
    """Read one entry a line; numbers are those of lines."""
    found = Records()
    for number, entry in json_lines(text, file, log):
        if isinstance(entry, JsonError):
            found.unread.append((number, f"The line is not JSON: {entry}."))
            log.warning(file, f"The line is not JSON: {entry}.", _ONE_A_LINE, row=number)
            continue
        _note_kind(file, entry, log)
        found.add(entry, number)
        if max_rows is not None and len(found.records) >= max_rows:
            break
    return found


def _note_kind(file: str, entry: Any, log: ProblemLog) -> None:
    for kind in (kind for test, kind in _KINDS if test(entry)):
        log.note(f"{file}: read as {kind}.")


def read_parquet_table(
    path: Path, log: ProblemLog, file: str, pictures: PictureExtractor, max_rows: int | None = None
) -> list[Records]:
    """Read a Parquet file as records, numbered by row.

    Pictures inside go to ``pictures``. Whole numbers for classes in a Hugging Face file become the
    classes' names.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = Records()
    try:
        check_parquet(path, most_bytes=path.stat().st_size + MAX_BYTES, most_cells=MAX_CELLS)
        with pq.ParquetFile(path) as content:
            classes = _class_names(content.schema_arrow.metadata)
            for batch in content.iter_batches(_ROWS_AT_A_TIME):
                for record in batch.to_pylist():
                    number = len(found.numbers) + len(found.unread) + 1
                    found.add(_plain_record(record, number, classes, pictures), number)
                if max_rows is not None and len(found.records) >= max_rows:
                    break
    except UnreadableError as error:
        log.error(file, error.message, error.remedy)
        return []
    except TooManyCells:
        log.error(file, *TOO_MANY_CELLS)
        return []
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        log.error(file, "The file is damaged, or is not a Parquet file.", "Write it again.")
        return []
    if not found.records:
        log.error(file, "The table is empty.", "Give a table with rows.")
        return []
    return [found]


def _plain_record(
    record: dict[str, Any],
    number: int,
    classes: Mapping[str, list[str]],
    pictures: PictureExtractor,
) -> dict[str, Any]:
    plain = {name: pictures.taken_out(_plain(value), number) for name, value in record.items()}
    for name, names in classes.items():
        value = plain.get(name)
        if isinstance(value, int) and 0 <= value < len(names):
            plain[name] = names[value]
    return plain


def _plain(value: Any) -> Any:
    """Return a value of Parquet as one of JSON: dates as text, maps as objects."""
    if isinstance(value, date | time):
        return text_of_cell(value)
    if isinstance(value, Decimal | timedelta | UUID):
        return str(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return value


def _class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    """Return the names of classes by column, in the form written by Hugging Face's ``datasets``."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        return {
            name: list(map(str, one["names"]))
            for name, one in features.items()
            if one.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


MAX_PICTURE_BYTES: Final = 200_000_000
"""Limit in bytes for one picture."""
_MAGIC: Final = (
    (0, b"\x89PNG", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (8, b"WEBP", ".webp"),
    (0, b"GIF8", ".gif"),
    (0, b"BM", ".bmp"),
    (0, b"II*\x00", ".tif"),
    (0, b"MM\x00*", ".tif"),
    (128, b"DICM", ".dcm"),
)
_BASE64: Final = ("iVBORw0KGgo", "/9j/", "UklGR")
_SHORTEST: Final = 100


class PictureExtractor:
    """Take pictures out of values and leave their paths; write them if a folder is given.

    ``files`` has the file of each path.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.files: dict[str, Path] = {}
        self._count = 0

    def taken_out(self, value: Any, row: int) -> Any:
        """Return a value of a row with paths for pictures, also inside lists and objects."""
        if isinstance(value, bytes):
            return self._kept(value, row, None)
        if isinstance(value, str):
            content = _decoded(value)
            return value if content is None else self._kept(content, row, None)
        if isinstance(value, list | tuple):
            return [self.taken_out(one, row) for one in value]
        if isinstance(value, Mapping):
            content = value.get("bytes")
            if isinstance(content, bytes) and value.keys() <= {"bytes", "path"}:
                return self._kept(content, row, value.get("path"))
            if value.keys() == {"bytes", "path"}:
                return value["path"]
            return {name: self.taken_out(one, row) for name, one in value.items()}
        return value

    def _kept(self, content: bytes, row: int, path: Any) -> str:
        """Keep a picture; other bytes become a text with their size."""
        ending = next((end for at, magic, end in _MAGIC if content.startswith(magic, at)), None)
        if ending is None or len(content) > MAX_PICTURE_BYTES:
            return f"{len(content):,} bytes"
        stem = PurePosixPath(safe_file_name(str(path))).stem if path else "picture"
        name = f"{row:06}_{stem}{ending}"
        while name in self.files:
            self._count += 1
            name = f"{row:06}_{stem}_{self._count}{ending}"
        self.files[name] = Path(name)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.files[name] = self.folder / name
            self.files[name].write_bytes(content)
        return name


def _decoded(text: str) -> bytes | None:
    """Return the bytes of a picture from a text in base64 or a data address."""
    if len(text) < _SHORTEST:
        return None
    if text.startswith("data:image/"):
        text = text.partition(",")[2]
    elif not text.startswith(_BASE64):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


TEXT_SUFFIXES: Final = (".csv", ".tsv", ".tab", ".txt")
EXCEL_SUFFIXES: Final = (".xlsx", ".xlsm")
LONGEST_EXCEL_CELL: Final = 32_767
MAX_CELL_CHARACTERS: Final = 10_000_000
_DELIMITERS: Final = (",", ";", "\t", "|")
_NO_DELIMITER: Final = "\x1f"
_SAMPLE_CHARACTERS: Final = 200_000
_SAMPLE_ROWS: Final = 100
_TITLE_ROWS: Final = 20
_NAME_COLUMNS: Final = (
    "Write one name above every column; a name over several merged cells counts for the first of "
    "them only."
)
_NO_VALUE: Final = frozenset(("", "nan", "NaN", "NULL", "null", "#N/A", "<NA>", "NaT"))

RowCells = Mapping[str, str | None]
"""Cells by column, or by the meaning of a column."""


Value = TypeVar("Value")


class SheetRow:
    """The cells of one row of a table, by column and by field; ``left`` are the unused ones.

    ``fields`` has the column of each mapped field, and ``given`` the values with a type in the
    file.
    """

    def __init__(
        self,
        at: RowOrigin,
        cells: RowCells,
        fields: Mapping[str, str],
        log: ProblemLog,
        given: Record,
    ) -> None:
        self.at, self.cells, self.fields, self._log, self._given = at, cells, fields, log, given

    def __getitem__(self, field: str) -> str | None:
        """The cell of a field; None if it has no column or the cell is empty."""
        column = self.fields.get(field)
        return self.cells[column] if column else None

    def value(self, column: str) -> Any:
        """The value of a column as in its file: typed in JSON, else text."""
        return self._given.get(column, self.cells[column])

    @cached_property
    def _left(self) -> dict[str, str]:
        return {column: cell for column, cell in self.cells.items() if cell is not None}

    @property
    def left(self) -> list[str]:
        """Columns with a value that was not used."""
        return list(self._left)

    def peek(self, field: str) -> str | None:
        """Return the cell of a field without using it; None if it is missing or empty."""
        column = self.fields.get(field)
        return (self.cells[column] or None) if column else None

    def take(self, field: str) -> str | None:
        """Return the cell of a field, and mark it as used."""
        column = self.fields.get(field)
        if column is None:
            return None
        self._left.pop(column, None)
        return self.cells[column]

    def take_column(self, column: str) -> str | None:
        """Return a cell, and mark it as used."""
        self._left.pop(column, None)
        return self.cells[column]

    def rewrite(self, field: str, text: str) -> None:
        """Replace a value that has a text in another form by the text."""
        column = self.fields[field]
        self.cells = {**self.cells, column: text}
        if column in self._given:
            self._given = {**self._given, column: text}

    def read(self, field: str, read: Callable[[str], Value | None]) -> Value | None:
        """Return the parsed cell; an unreadable one stays unused, unless it means "nothing"."""
        cell = self.peek(field)
        value = None if cell is None or is_absent(cell) else read(cell)
        if value is not None or is_absent(cell):
            self.take(field)
        return value

    def keep(self, *columns: str) -> dict[str, Any]:
        """Use those of some columns that are left, with their values as in the file."""
        kept = [column for column in columns if self._left.pop(column, None) is not None]
        return {column: self.value(column) for column in kept}

    def warn(self, message: str, remedy: str, field: str | None) -> None:
        """Log a warning about a cell of the row, named by its field or its column."""
        column = None if field is None else self.fields.get(field, field)
        self._log.warning(self.at.file, message, remedy, row=self.at.row, field=column)


@dataclass(frozen=True)
class TableSheet:
    """One table. ``numbers`` are the rows' numbers as shown in its file.

    For CSV that is the data row (1 is the first below the header), for Excel the row of the sheet,
    for JSON the entry or line. ``given`` are the rows' typed values, if the file has types.
    ``unread`` are rows that could not become part of the table, with the reason. ``settings`` are
    values stored once for all rows. ``others`` names further tables of the file. ``pictures`` has
    the files of pictures in the table, by the path that replaces them in cells.
    """

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    numbers: tuple[int, ...]
    name: str | None = None
    given: tuple[Record, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    pictures: Mapping[str, Path] = field(default_factory=dict)

    def read(self, columns: Mapping[str, str], log: ProblemLog) -> Iterator[SheetRow]:
        """Yield the rows; ``columns`` maps each field to its column."""
        nothing: Record = {}
        for place, (number, row) in enumerate(zip(self.numbers, self.rows, strict=True)):
            cells = dict(zip(self.columns, row, strict=True))
            given = self.given[place] if self.given else nothing
            yield SheetRow(RowOrigin(self.file, number), cells, columns, log, given)

    def column(self, name: str) -> tuple[str | None, ...]:
        """Return the cells of one column, from the top."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)


def read_table_sheet(
    path: Path,
    log: ProblemLog,
    *,
    sheet: str | None = None,
    max_rows: int | None = None,
    label: str | None = None,
    pictures: Path | None = None,
) -> TableSheet | None:
    """Read a table of a file; log an error and return None if it cannot be read.

    ``sheet`` names the sheet of an Excel file, or the list of a JSON file; by default the one with
    the most data. With ``max_rows`` reading stops after this number of rows, for a preview.
    ``label`` is the file's name in problems. Pictures in the table are written into ``pictures``,
    if given.
    """
    inside = PictureExtractor(pictures)
    file, suffix = label or path.name, path.suffix.lower()
    try:
        probe = Probe(path)
        start = probe.head[:64]
    except (FileRefused, OSError):
        start = b""  # the reader below reports what is wrong
    # some files with an Excel ending are text
    is_text = not re.search(rb"[\x00-\x08\x0e-\x1f]|^PK", start) and re.search(rb"[,;\t|]", start)
    if (suffix in EXCEL_SUFFIXES and not is_text) or (
        start.startswith(b"PK\x03\x04") and probe.kind == "xlsx"
    ):
        book = read_workbook(path, log, sheet=sheet, max_rows=max_rows, label=file)
        if book is None:
            return None
        name, numbered, others = book
        found = _assemble(file, numbered, log, name, count_from_header=False)
        return found and replace(found, others=others)
    if suffix in (".xls", ".ods", ".numbers"):
        log.error(file, "This kind of spreadsheet cannot be read.", "Save it as .xlsx or CSV.")
        return None
    is_parquet = suffix in PARQUET_SUFFIXES or start.startswith(b"PAR1")
    is_json = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    if is_parquet or suffix in JSON_SUFFIXES or is_json:
        read = read_parquet_table if is_parquet else read_json_tables
        return _choose_table(file, read(path, log, file, inside, max_rows), log, sheet, inside)
    rows = _text_rows(path, log, max_rows, file)
    return None if rows is None else _assemble(file, rows, log, None, count_from_header=True)


def _choose_table(
    file: str, tables: list[Records], log: ProblemLog, wanted: str | None, inside: PictureExtractor
) -> TableSheet | None:
    """Make a grid of the wanted table, else of the one with the most records."""
    if not tables:
        return None
    names = [table.name for table in tables if table.name is not None]
    if wanted is not None and wanted not in names:
        remedy = f"Choose one of: {', '.join(names[:20]) or 'none'}."
        log.error(file, f"There is no list “{wanted}”.", remedy, field="sheet")
        return None
    chosen = max(tables, key=lambda one: (one.name == wanted, len(one.records)))
    found = make_grid(file, chosen, log, [name for name in names if name != chosen.name])
    return found and replace(found, pictures=inside.files)


def make_grid(
    file: str, table: Records, log: ProblemLog, others: Sequence[str] = ()
) -> TableSheet | None:
    """Make a grid of records: one column for each field of any record."""
    columns = dict.fromkeys(name for record in table.records for name in record)
    if len(columns) > MAX_COLUMNS or len(columns) * len(table.records) > MAX_CELLS:
        log.error(file, *_too_large(len(columns)))
        return None
    if not columns:
        log.error(file, "The table is empty.", "Give records with fields.")
        return None
    rows = tuple(tuple(_cell_of(record.get(name)) for name in columns) for record in table.records)
    records, numbers, unread = tuple(table.records), tuple(table.numbers), tuple(table.unread)
    more = (table.name, records, unread, table.settings, tuple(others))
    return TableSheet(file, tuple(columns), rows, numbers, *more)


def _cell_of(value: Any) -> str | None:
    """Return a value of JSON or Parquet as text; an explicit empty text stays empty."""
    if isinstance(value, str):
        return None if value.strip() in _NO_VALUE and value.strip() else value
    if isinstance(value, list | tuple | dict):
        return dump_json(value) if value else None
    return text_of_cell(value)


def _text_rows(path: Path, log: ProblemLog, max_rows: int | None, file: str) -> NumberedRows | None:
    text = read_text(path, log, save_as="“CSV UTF-8”", label=file)
    if text is None:
        return None
    if not text.strip('\ufeff\x00 \t\r\n,;|"'):
        log.error(file, "The file is empty.", "Give the file that holds the table.")
        return None
    delimiter, text = _delimiter(text)
    limit = csv.field_size_limit(MAX_CELL_CHARACTERS)
    try:
        rows: NumberedRows = []
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        cells = 0
        for number, row in enumerate(reader):
            rows.append((number, list(row)))
            cells += len(row) + 1
            if len(row) > 10 * MAX_COLUMNS or cells > MAX_CELLS:
                log.error(file, *_too_large(len(row)))
                return None
            if max_rows is not None and number > max_rows + _TITLE_ROWS:
                break
    except csv.Error:
        message = "A quotation mark is opened and not closed, or a cell is far too long."
        remedy = "Close the quotation marks, and save the file again."
        log.error(file, message, remedy, row=len(rows))
        return None
    finally:
        csv.field_size_limit(limit)
    return rows


def _too_large(columns: int) -> tuple[str, str]:
    """Return message and remedy for a table with too many columns, else with too many cells."""
    if columns > MAX_COLUMNS:
        return f"The table has {columns:,} columns.", f"Keep at most {MAX_COLUMNS:,}."
    return TOO_MANY_CELLS


def _delimiter(text: str) -> tuple[str, str]:
    """Choose the delimiter that splits the first rows most evenly into most columns.

    For a table of a single column, a delimiter that does not occur is chosen. Excel's first line
    ``sep=;`` decides, and is removed.
    """
    start = text[:6].lower()
    if start.startswith("sep=") and len(text) > 5:
        return text[4], text.partition("\n")[2]
    sample = text[:_SAMPLE_CHARACTERS]
    best, best_score = _NO_DELIMITER, (0.0, 0)
    for delimiter in _DELIMITERS:
        widths: list[int] = []
        try:
            for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
                if any(cell.strip() for cell in row):
                    widths.append(len(row))
                if len(widths) >= _SAMPLE_ROWS:
                    break
        except csv.Error:
            continue
        if not widths:
            continue
        width, agreeing = Counter(widths).most_common(1)[0]
        score = (agreeing / len(widths) if width > 1 else 0.0, width)
        if score > best_score:
            best, best_score = delimiter, score
    return best, text


def _assemble(
    file: str, numbered: NumberedRows, log: ProblemLog, name: str | None, *, count_from_header: bool
) -> TableSheet | None:
    """Find the header, name the columns, drop blank rows."""
    filled = []
    for number, row in numbered:
        bare = [None if cell is None else cell.strip().strip("\ufeff") for cell in row]
        cells = [None if cell in _NO_VALUE else cell for cell in bare]
        if any(cell is not None for cell in cells):
            filled.append((number, cells))
    _warn_of_cut_cells(file, numbered, log)
    if not filled:
        log.error(file, "The table is empty.", "Give a table with a header row and data below it.")
        return None
    # the header is the first row, below titles that are alone in their row
    widths = [sum(cell is not None for cell in row) for _, row in filled[:_SAMPLE_ROWS]]
    needed = min(2, median(widths))
    header_place = next(place for place, number in enumerate(widths) if number >= needed)
    if header_place:
        log.note(f"{file}: {header_place} row(s) above the column names were passed over.")
    header_number, header = filled[header_place]
    width = max(len(_without_trailing(row)) for _, row in filled[header_place:])
    if width > MAX_COLUMNS:
        log.error(file, *_too_large(width))
        return None
    body = filled[header_place + 1 :]
    columns = _names(_without_trailing(header), width, file, log, body)
    for number, row in body:
        if count_from_header and len(_without_trailing(row)) > len(_without_trailing(header)):
            message = "The row has more cells than there are columns."
            remedy = "Put quotation marks around cells that hold the delimiter."
            log.warning(file, message, remedy, row=number - header_number)
    rows = tuple(tuple([*row, *[None] * width][:width]) for _, row in body)
    offset = header_number if count_from_header else 0
    return TableSheet(file, columns, rows, tuple(number - offset for number, _ in body), name)


def _warn_of_cut_cells(file: str, numbered: NumberedRows, log: ProblemLog) -> None:
    """Warn about cells as long as Excel allows: longer texts were cut there."""
    for number, row in numbered:
        if any(cell is not None and len(cell) == LONGEST_EXCEL_CELL for cell in row):
            message = f"A cell has {LONGEST_EXCEL_CELL:,} characters, as many as Excel allows; its "
            message += (
                "text was probably cut off by the program that wrote the file, not by a model."
            )
            remedy = "Give the texts as CSV, JSON or Parquet, as they were before."
            log.warning(file, message, remedy, row=number)


def _without_trailing(row: list[str | None]) -> list[str | None]:
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return row[:end]


def _names(
    header: list[str | None], width: int, file: str, log: ProblemLog, body: NumberedRows
) -> tuple[str, ...]:
    names: list[str] = []
    for place, given in enumerate((*header, *[None] * (width - len(header)))):
        name = " ".join(given.split()) if given else f"column {place + 1}"
        if not given and any(place < len(row) and row[place] for _, row in body):
            message = f"Column {place + 1} has no name; it is called “{name}”."
            log.warning(file, message, _NAME_COLUMNS)
        if name in names:
            later = next(again for copy in count(2) if (again := f"{name} ({copy})") not in names)
            message = f"Two columns are called “{name}”; the later one is called “{later}”."
            log.warning(file, message, "Give every column its own name.")
            name = later
        names.append(name)
    return tuple(names)
