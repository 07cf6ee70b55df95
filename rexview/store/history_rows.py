"""Rows of the history as rows of tables: scores, reader flags, and each consensus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import polars as pl

from rexview import frames
from rexview.store.entry import Stored

ORIGIN: Final = "app"
"""The ``_origin`` of what was written here."""
ADJUDICATIONS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "dimension": pl.String(),
        "image": pl.Int64(),
        "score": pl.Int8(),
        "comment": pl.String(),
        "adjudicator": pl.String(),
        "created": pl.Datetime("us", "UTC"),
        "answer_digest": pl.String(),
    }
)
_FROM_ROW: Final = {
    "case": "case",
    "model": "model",
    "reader": "person",
    "adjudicator": "person",
    "dimension": "subject",
    "failure": "subject",
    "image": "picture",
    "created": "at",
    "answer_digest": "answer_digest",
}
"""Columns by what a row of the history calls them; others are fields of its value."""


def scores_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of scores: columns :data:`rexview.frames.SCORES`."""
    return _frame(rows, frames.SCORES)


def flags_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of reader flags: columns :data:`rexview.frames.FLAGS`."""
    return _frame(rows, frames.FLAGS)


def adjudications_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of each consensus: columns :data:`ADJUDICATIONS`."""
    return _frame(rows, ADJUDICATIONS)


def _frame(rows: Iterable[Stored], schema: pl.Schema) -> pl.DataFrame:
    rows = list(rows)

    def column(name: str) -> list[Any]:
        if name in _FROM_ROW:
            return [getattr(row, _FROM_ROW[name]) for row in rows]
        if name == "_row":
            return list(range(1, len(rows) + 1))
        if name == "_origin":
            return [ORIGIN] * len(rows)
        return [(row.value or {}).get(name) for row in rows]

    return pl.DataFrame({name: column(name) for name in schema}, schema=schema)
