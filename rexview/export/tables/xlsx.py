"""Export an Excel workbook with a sheet each for cases, answers, scores, flags, boxes and remarks.

Text that would be read as a formula gets a leading apostrophe; numbers and dates keep their types
(times are UTC). A cell holds 32,767 characters: longer text is cut, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from rexview.analysis.download_files import escape_formula
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportCase, ExportContent
from rexview.export.tables import Row, answer_row, box_row, boxes_of, case_row, plain_rows

SHEETS: Final = ("cases", "answers", "scores", "flags", "marks", "boxes", "comments", "decisions")
_LONGEST: Final = 32_767
_CUT: Final = "… [cut: a cell holds no more]"
_MOST_ROWS: Final = 1_048_576
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_WIDE: Final = 60
_NARROW: Final = 16
_LONG_TEXTS: Final = frozenset(
    ("question", "answer", "report_findings", "report_impression", "message", "text", "comment")
)


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write the workbook; rows go to disk as they are made."""
    book, packed = Workbook(write_only=True), BytesIO()
    try:
        _about(book, content)
        sheets = {name: _Sheet(book, name, progress) for name in SHEETS}
        for case in progress.over(content):
            for name, row in _rows(content, case):
                sheets[name].add(row)
    finally:
        book.save(packed)  # also after cancelling: it deletes openpyxl's temporary files
    out.write_bytes(packed.getbuffer())  # openpyxl itself reports a full disk poorly


def _rows(content: ExportContent, case: ExportCase) -> list[tuple[str, Row]]:
    found: list[tuple[str, Row]] = [("cases", case_row(case))]
    for answer in case.answers:
        found.append(("answers", {"case": case.id, **answer_row(content, case, answer)}))
    found += [("boxes", box_row(case, box)) for box in boxes_of(case)]
    said: Mapping[str, Any] = {
        "scores": case.scores,
        "flags": case.flags,
        "marks": case.marks,
        "comments": case.comments,
        "decisions": case.decisions,
    }
    for name, records in said.items():
        found += [(name, row) for row in plain_rows(case, records)]
    return found


def _about(book: Any, content: ExportContent) -> None:
    """Write the notes on the numbers on their own sheet, the first one."""
    sheet = book.create_sheet("about")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = _NARROW, 2 * _WIDE
    lines = [("What", content.title), ("Review set", content.set_name)]
    if met := content.meeting:
        lines += [("Meeting", met.name), ("Held", str(met.held or "not given"))]
    lines += [("Cases", str(len(content.case_ids))), ("Made", f"{content.made:%Y-%m-%d %H:%M} UTC")]
    lines += [("Notice", content.notice)] if content.notice else []
    lines += [("Privacy", note) for note in content.notes]
    for name, words in lines:
        sheet.append([_bold(sheet, name), _text(sheet, words)])


class _Sheet:
    """A sheet that gets its head with its first row."""

    def __init__(self, book: Any, name: str, progress: ExportProgress) -> None:
        self._sheet = book.create_sheet(name)
        self._sheet.freeze_panes = "A2"
        self._name, self._progress, self._rows = name, progress, 0

    def add(self, row: Row) -> None:
        """Write a row; a note reports what does not fit."""
        if not self._rows:
            for place, name in enumerate(row, 1):
                width = _WIDE if name in _LONG_TEXTS else _NARROW
                self._sheet.column_dimensions[get_column_letter(place)].width = width
            self._sheet.append([_bold(self._sheet, name) for name in row])
            self._rows = 1
        if self._rows == _MOST_ROWS:
            self._progress.note(f"Sheet {self._name} is full; its last rows are in no sheet.")
            return
        self._rows += 1
        self._sheet.append([self._cell(value) for value in row.values()])

    def _cell(self, value: Any) -> Any:
        if isinstance(value, list):
            value = "\n".join(value)
        if isinstance(value, Mapping):
            value = ", ".join(f"{name}: {one}" for name, one in value.items())
        if isinstance(value, datetime):
            return value.astimezone(UTC).replace(tzinfo=None)
        if value is None or isinstance(value, bool | int | float | date):
            return value
        text = str(value)
        if len(escape_formula(text)) > _LONGEST:
            self._progress.note(f"A text in sheet {self._name} is longer than a cell, and cut.")
            text = text[: _LONGEST - len(_CUT) - 1] + _CUT
        return _text(self._sheet, text)


def _text(sheet: Any, text: str) -> Any:
    cell = WriteOnlyCell(sheet, _ILLEGAL.sub("\ufffd", escape_formula(text)))
    cell.data_type = "s"  # whatever its first character, it is no formula
    cell.alignment = Alignment(vertical="top", wrap_text=True)
    return cell


def _bold(sheet: Any, text: str) -> Any:
    cell = _text(sheet, text)
    cell.font = Font(bold=True)
    return cell
