"""JSON Lines: one object a line. Row numbers are line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from rexview.reviewset.json_text import JsonError, parse
from rexview.reviewset.problems import ProblemList
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

_REMEDY: Final = "Write one complete JSON object in curly brackets on each line."


def read(source: TableSource, table: Table, problems: ProblemList) -> Iterator[Chunk]:
    """Read the rows, a chunk at a time. Blank lines are skipped, lines that fail are reported."""
    objects: list[dict[str, Any]] = []
    rows: list[int] = []
    names: dict[str, None] = {}
    with source.files[0].open("rb") as file:
        lines = iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
        for row, line in enumerate(lines, start=1):
            if too_long_line(line, source.label, row, problems):
                return
            if row == 1:
                if is_utf16(line, source.label, problems):
                    return
                line = line.removeprefix(UTF8_BOM)
                if line.lstrip().startswith(b"["):
                    message = "The file is one JSON list, or has lists for rows."
                    problems.add("error", source.label, message, _REMEDY, row=row)
                    return
            found = _object(line, row, source.label, problems)
            if found is not None:
                objects.append(found)
                rows.append(row)
                names.update(dict.fromkeys(found))
                if too_many_columns(len(names), source.label, problems, row):
                    return
            if len(objects) >= ROWS:
                yield _chunk(objects, rows, table)
                objects, rows = [], []
    if objects:
        yield _chunk(objects, rows, table)


def _object(line: bytes, row: int, label: str, problems: ProblemList) -> dict[str, Any] | None:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        not_utf8(label, row, problems)
        return None
    if not text.strip():
        return None
    try:
        found = parse(text.rstrip())
    except JsonError as error:
        problems.add("error", label, f"The line is not JSON: {error}.", _REMEDY, row=row)
        return None
    if not isinstance(found, dict):
        problems.add("error", label, "The line is not a JSON object.", _REMEDY, row=row)
        return None
    return found


def _chunk(objects: list[dict[str, Any]], rows: list[int], table: Table) -> Chunk:
    names = dict.fromkeys(name for found in objects for name in found)
    required = (column.name for column in table.columns if column.required)
    names.update(dict.fromkeys(required))
    columns: dict[str, Any] = {name: [found.get(name) for found in objects] for name in names}
    return Chunk(columns, np.array(rows, dtype=np.int64), header=False)
