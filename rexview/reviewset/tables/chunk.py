"""A stretch of rows of one table, as its file gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexview.reviewset.problems import ProblemList
from rexview.reviewset.tables.source_location import Positions

ROWS: Final = 50_000
"""Rows that text formats hand over at a time, so that memory stays bounded."""
MAX_COLUMNS: Final = 2000
"""Different fields that a table may have; the declared ones are 20."""
MAX_LINE_BYTES: Final = 16_000_000
"""Longest line of a text format: a case or an answer is a thousandth of that."""
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
UTF8_BOM: Final = b"\xef\xbb\xbf"
SAVE_AS_UTF8: Final = "Save the file as UTF-8."


@dataclass(frozen=True)
class Chunk:
    """Columns of ``rows`` by name: lists of parsed JSON values or cell texts, or typed series.

    ``rows`` are row numbers in the whole table. ``header`` says that the file has one list of
    columns for all rows, so that a column can be missing as such.
    """

    columns: dict[str, list[Any] | pl.Series]
    rows: Positions
    header: bool


def is_utf16(first_bytes: bytes, label: str, problems: ProblemList) -> bool:
    """Report a file that begins as UTF-16 does, as spreadsheets write "Unicode text"."""
    if not first_bytes.startswith(_UTF16):
        return False
    problems.add("error", label, "The file is UTF-16, not UTF-8.", SAVE_AS_UTF8)
    return True


def not_utf8(label: str, row: int, problems: ProblemList) -> None:
    """Report a row with bytes that are not UTF-8."""
    problems.add(
        "error",
        label,
        "The row has letters that are not UTF-8; the file was saved in another encoding.",
        SAVE_AS_UTF8,
        row=row,
    )


def too_many_columns(count: int, label: str, problems: ProblemList, row: int | None = None) -> bool:
    """Report a table with more different fields than are read."""
    if count <= MAX_COLUMNS:
        return False
    message = f"The table has more than {MAX_COLUMNS:,} different fields."
    remedy = "Keep what belongs to a case or an answer; put the rest into one field."
    problems.add("error", label, message, remedy, row=row)
    return True


def too_long_line(line: bytes, label: str, row: int | None, problems: ProblemList) -> bool:
    """Report a line that goes on beyond what is read of it."""
    if len(line) <= MAX_LINE_BYTES:
        return False
    message = f"The line is longer than {MAX_LINE_BYTES / 1e6:g} MB."
    problems.add("error", label, message, "Check that lines end where rows do.", row=row)
    return True
