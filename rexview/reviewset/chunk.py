"""A stretch of rows of one table, as its file gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexview.reviewset.place import Positions
from rexview.reviewset.problems import ProblemList

ROWS: Final = 50_000
"""Rows that text formats hand over at a time, so that memory stays bounded."""
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
