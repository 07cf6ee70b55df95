"""Rows of the history as rows of tables: what readers gave, and each consensus."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
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
    "candidate": "subject",
    "meeting": "subject",
    "by": "person",
    "image": "picture",
    "created": "at",
    "answer_digest": "answer_digest",
}
"""Columns by what a row of the history calls them; others are fields of its value."""


def scores_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of scores: columns :data:`rexview.frames.SCORES`."""
    return frame_of(rows, frames.SCORES)


def flags_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of reader flags: columns :data:`rexview.frames.FLAGS`."""
    return frame_of(rows, frames.FLAGS)


def place_of(place: str) -> tuple[int, int]:
    """Return the line of a place in a report, and which insertion after it that is, 0 for none.

    See :data:`rexview.store.kinds.PLACE`.

    >>> place_of("4"), place_of("4+12")
    ((4, 0), (4, 12))
    """
    line, _, added = place.partition("+")
    return int(line), int(added or 0)


def adjudications_frame(rows: Iterable[Stored]) -> pl.DataFrame:
    """Make a table of each consensus: columns :data:`ADJUDICATIONS`."""
    return frame_of(rows, ADJUDICATIONS)


def frame_of(
    rows: Iterable[Stored], schema: pl.Schema, of_value: Collection[str] = ()
) -> pl.DataFrame:
    """Make a table of rows of one kind of entry; the columns of ``schema`` are filled in.

    Those named in ``of_value`` are fields of the value, whatever they are in other kinds.
    """
    rows = list(rows)

    def column(name: str) -> list[Any]:
        if name in _FROM_ROW and name not in of_value:
            return [getattr(row, _FROM_ROW[name]) for row in rows]
        if name == "line":
            return [place_of(row.subject or "0")[0] for row in rows]
        if name == "source":
            return ["reader"] * len(rows)
        if name == "due":
            return [_midnight((row.value or {}).get(name)) for row in rows]
        if name == "_row":
            return list(range(1, len(rows) + 1))
        if name == "_origin":
            return [ORIGIN] * len(rows)
        return [(row.value or {}).get(name) for row in rows]

    return pl.DataFrame({name: column(name) for name in schema}, schema=schema)


def decisions_frame(
    rows: Iterable[Stored], meetings: Mapping[str, Mapping[str, Any] | None]
) -> pl.DataFrame:
    """Make a table of decisions, columns :data:`rexview.frames.DECISIONS`.

    ``meetings`` has the values of the meetings by id; of one that is not there the id stands.
    """
    found = frame_of(rows, frames.DECISIONS, of_value=("failure",))
    ids = found["meeting"].to_list()
    of = [meetings.get(one) or {} for one in ids]
    return found.with_columns(
        pl.Series("meeting_name", [one.get("name") for one in of], dtype=pl.String()),
        pl.Series("held", [_midnight(one.get("held")) for one in of], dtype=found.schema["held"]),
    )


def _midnight(day: str | None) -> datetime | None:
    """Return the moment at which a day such as ``2026-12-01`` begins, UTC."""
    return None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC)
