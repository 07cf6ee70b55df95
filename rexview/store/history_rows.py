"""Rows of the history as rows of the tables of a review set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import polars as pl

from rexview import frames
from rexview.store.entry import Stored

ORIGIN: Final = "app"
"""The ``_origin`` of what was written here."""


def scores_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of scores: columns :data:`rexview.frames.SCORES`."""
    return _frame(rows, "dimension", {"image": "picture"}, ("score", "comment"), frames.SCORES)


def flags_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of reader flags: columns :data:`rexview.frames.FLAGS`."""
    return _frame(rows, "failure", {}, ("verdict", "comment"), frames.FLAGS)


def _frame(
    rows: Iterable[Stored],
    subject: str,
    more: dict[str, str],
    values: tuple[str, ...],
    schema: pl.Schema,
) -> pl.DataFrame:
    rows = list(rows)
    columns: dict[str, list[Any]] = {
        "case": [row.case for row in rows],
        "model": [row.model for row in rows],
        "reader": [row.person for row in rows],
        subject: [row.subject for row in rows],
        "created": [row.at for row in rows],
        "answer_digest": [row.answer_digest for row in rows],
        "extra": [None] * len(rows),
        "_row": list(range(1, len(rows) + 1)),
        "_origin": [ORIGIN] * len(rows),
    }
    columns |= {name: [getattr(row, source) for row in rows] for name, source in more.items()}
    columns |= {name: [(row.value or {}).get(name) for row in rows] for name in values}
    return pl.DataFrame({name: columns[name] for name in schema}, schema=schema)
