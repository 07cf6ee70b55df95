"""Read the rows of an Excel sheet as text, with guards against deceptive files.

The stored results of formulas are read; formulas are never run. A file that would unpack to a huge
size is refused before it is opened.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from rexview.importers.receipt import ProblemLog
from rexview.importers.source_files import MAX_CELLS
from rexview.importers.table.cells import KNOWN_NAMES, ColumnName
from rexview.reviewset.tables.source import MAX_COLUMNS

MAX_UNPACKED_BYTES: Final = 300_000_000
MAX_RATIO: Final = 300
MAX_ROWS: Final = 1_048_576
MAX_FILLED_ROWS: Final = 100_000
"""A workbook takes a hundred times as long to read as a CSV file of the same rows."""
MAX_CHARACTERS: Final = MAX_UNPACKED_BYTES
"""Limit for characters of all cells: a text stored once may be in any number of cells."""
MAX_TAGS: Final = 5_000_000
"""Limit for XML tags in the whole workbook; a cell has four to six."""
_RATIO_MATTERS_FROM: Final = 50_000_000
_CHUNK: Final = 1 << 20
_MERGED: Final = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
_FORMULA: Final = re.compile(rb"<(?:\w+:)?f[\s>/]")
_OVERLAP: Final = 200
_LOOKED_AT: Final = 200
_HEADER_ROWS: Final = 20
_AS_CSV: Final = "Save the sheet as CSV, and import that."
_TOO_LARGE: Final = ("The workbook has far more rows or cells than can be read here.", _AS_CSV)

MergedCells = tuple[int, int, int, int]
"""First column, first row, last column, last row of merged cells, counted from 1."""
NumberedRows = list[tuple[int, list[str | None]]]
"""Non-empty rows of a sheet, each with its number in the sheet."""
SheetNames = tuple[str, ...]


class _Refused(Exception):
    """A workbook is not read: message, remedy and field for the log."""

    def __init__(self, message: str, remedy: str, field: str | None = None) -> None:
        self.message, self.remedy, self.field = message, remedy, field


def read_workbook(
    path: Path,
    log: ProblemLog,
    *,
    sheet: str | None = None,
    max_rows: int | None = None,
    label: str | None = None,
) -> tuple[str, NumberedRows, tuple[str, ...]] | None:
    """Read one sheet: its name, its rows, and the names of other non-empty sheets.

    Without ``sheet`` all sheets are compared. The one with the best-known column names is read,
    else the one with most cells.

    Cells merged downwards below the first row count for each of their rows, as a person reading the
    sheet sees it. All merged cells are reported. Logs an error and returns None if the file cannot
    be read.
    """
    file = label or path.name
    try:
        _check_sound(path)
        with path.open("rb") as stream, warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"openpyxl(\.|$)")  # from parts not read here
            book = _open(stream, data_only=True)
            chosen, others = _choose(book, sheet, file, log)
            merged, has_formulas = _merged_and_formulas(path, chosen)
            rows = list(_rows(chosen, max_rows))
            if len(rows) > MAX_FILLED_ROWS:
                raise _Refused(*_TOO_LARGE)
            if has_formulas:
                formulas = _open(stream, data_only=False)[chosen.title]
                _report_formulas(formulas, file, rows, log)
    except _Refused as refusal:
        log.error(file, refusal.message, refusal.remedy, field=refusal.field)
        return None
    except Exception:
        # openpyxl passes on any exception of its parsing; a damaged file can cause many.
        log.error(file, "The Excel file is damaged.", "Open it in Excel and save it again.")
        return None
    _spread_merged_cells(rows, merged, file, log)
    return chosen.title, rows, others


def _open(stream: BinaryIO, *, data_only: bool) -> Any:
    from openpyxl import load_workbook

    return load_workbook(stream, read_only=True, data_only=data_only, keep_links=False)


def _check_sound(path: Path) -> None:
    """Refuse files that are no zip archive, too large, or have XML entities."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            unpacked = sum(entry.file_size for entry in entries)
            packed = max(1, path.stat().st_size)
            bomb = unpacked > _RATIO_MATTERS_FROM and unpacked / packed > MAX_RATIO
            if unpacked > MAX_UNPACKED_BYTES or bomb or len(entries) > 10_000:
                message = "The Excel file would unpack to something far too large."
                raise _Refused(message, _AS_CSV)
            tags = 0
            for entry in entries:
                if entry.filename.endswith((".xml", ".rels")):
                    with archive.open(entry) as stream:
                        tags += _count_tags(stream)
            if tags > MAX_TAGS:
                raise _Refused(*_TOO_LARGE)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError):
        raise _Refused(
            "The file is not an Excel workbook, or it is protected by a password.",
            "Save it again as .xlsx without a password, or as CSV.",
        ) from None


def _count_tags(part: IO[bytes]) -> int:
    """Count the tags of one part, to slightly more than allowed: openpyxl may read them all."""
    start = part.read(4096)
    if re.search(b"<!DOCTYPE|<!ENTITY", start.replace(b"\x00", b"")):
        raise _Refused(
            "The Excel file holds declarations that Excel does not write.",
            "Open it in Excel and save it again.",
        )
    found = start.count(b"<")
    while found <= MAX_TAGS and (chunk := part.read(_CHUNK)):
        found += chunk.count(b"<")
    return found


def _choose(book: Any, wanted: str | None, file: str, log: ProblemLog) -> tuple[Any, SheetNames]:
    """Choose a sheet; return it with the names of the other non-empty sheets."""
    sheets = list(book.worksheets)
    names = [sheet.title for sheet in sheets]
    if wanted is not None:
        if wanted in names:
            return sheets[names.index(wanted)], ()
        remedy = f"Choose one of: {', '.join(names[:20])}."
        raise _Refused(f"There is no sheet “{wanted}”.", remedy, "sheet")
    visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"] or sheets
    likely = {sheet.title: _likelihood(sheet) for sheet in sheets}
    chosen = max(visible, key=lambda sheet: likely[sheet.title])
    if not likely[chosen.title][1]:
        raise _Refused("The workbook is empty.", "Give the workbook that holds the table.")
    if len(visible) > 1:
        others = ", ".join([f"“{name}”" for name in names if name != chosen.title][:10])
        log.note(f"{file}: the sheet “{chosen.title}” was read; there are also {others}.")
    filled = (name for name, (_, cells) in likely.items() if cells)
    return chosen, tuple(name for name in filled if name != chosen.title)


def _likelihood(sheet: Any) -> tuple[int, int]:
    """Return how likely a sheet is the one with data: known names in one row, and cells."""
    known = cells = 0
    for place, (_, row) in enumerate(_rows(sheet, _LOOKED_AT)):
        filled = [cell for cell in row if cell is not None]
        cells += len(filled)
        if place < _HEADER_ROWS:
            known = max(known, sum(ColumnName.of(cell).plain in KNOWN_NAMES for cell in filled))
    return known, cells


def _rows(sheet: Any, max_rows: int | None) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the non-empty rows; the size claimed by the file is not trusted.

    Raises
    ------
    _Refused
        Its cells, including empty ones between others, are too many or too long.
    """
    sheet.reset_dimensions()
    most = MAX_FILLED_ROWS if max_rows is None else min(max_rows, MAX_FILLED_ROWS)
    given = count = characters = 0
    rows = sheet.iter_rows(max_row=MAX_ROWS, max_col=None, values_only=True)
    for number, values in enumerate(rows, start=1):
        cells = [text_of_cell(value) for value in values[:MAX_COLUMNS]]
        if any(cell is not None for cell in cells):
            count += len(cells)
            characters += sum(len(cell) for cell in cells if cell is not None)
            if count > MAX_CELLS or characters > MAX_CHARACTERS:
                raise _Refused(*_TOO_LARGE)
            yield number, cells
            given += 1
        if given > most or number >= MAX_ROWS:
            return


def text_of_cell(value: Any) -> str | None:
    """Return a cell's value as text: whole numbers without ``.0``, dates as ISO 8601."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value.total_seconds())
    text = str(value).strip()
    return text or None


def _merged_and_formulas(path: Path, sheet: Any) -> tuple[list[MergedCells], bool]:
    """Return merged cells, and whether there are formulas, from the sheet's own XML."""
    from openpyxl.utils import column_index_from_string as column

    merged: list[MergedCells] = []
    formulas = False
    with zipfile.ZipFile(path) as archive, archive.open(sheet._worksheet_path) as stream:
        before = b""
        while chunk := stream.read(_CHUNK):
            window = before + chunk
            formulas = formulas or _FORMULA.search(window) is not None
            merged += [
                (column(one[1].decode()), int(one[2]), column(one[3].decode()), int(one[4]))
                for one in _MERGED.finditer(window)
                if one.end() > len(before)
            ]
            before = window[-_OVERLAP:]
    return merged, formulas


def _report_formulas(sheet: Any, file: str, rows: NumberedRows, log: ProblemLog) -> None:
    """Warn about formulas without a stored result: their cells were read as empty."""
    from openpyxl.utils import get_column_letter

    message = "The cell is a formula without a stored result; it was read as empty."
    remedy = "Open the file in Excel and save it, or replace the formula by its value."
    read = dict(rows)
    sheet.reset_dimensions()
    for number, cells in enumerate(sheet.iter_rows(max_row=MAX_ROWS), start=1):
        values = read.get(number, [])
        for place, cell in enumerate(cells[:MAX_COLUMNS]):
            if cell.data_type == "f" and (place >= len(values) or values[place] is None):
                column = f"column {get_column_letter(place + 1)}"
                log.warning(file, message, remedy, row=number, field=column, kind="formula")


def _spread_merged_cells(
    rows: NumberedRows, merged: list[MergedCells], file: str, log: ProblemLog
) -> None:
    """Write the value of cells merged downwards into each row; report all merged cells."""
    from openpyxl.utils import get_column_letter as letters

    if not rows:
        return
    by_number = dict(rows)
    header, last = rows[0][0], rows[-1][0]
    budget = MAX_ROWS
    for left, top, right, bottom in merged:
        where = f"{letters(left)}{top}:{letters(right)}{bottom}"
        if top <= header:
            message = f"The cells {where} are merged in the first row."
            remedy = "Write one name above every column, all in one row."
        elif right > left:
            message = f"The cells {where} are merged; only the first of them was read."
            remedy = "Write each value into its own cell."
        else:
            message = f"The cells {where} are merged; their value was read for each row."
            remedy = "Write the value into every row if that is not what was meant."
        log.warning(file, message, remedy, row=top)
        value = by_number.get(top, [])[left - 1 : left]
        if top <= header or not value or left > MAX_COLUMNS:
            continue
        for number in range(top + 1, min(bottom, last, top + budget) + 1):
            row = by_number.get(number)
            budget -= 1
            if row is not None:
                row.extend([None] * (left - len(row)))
                row[left - 1] = value[0]
