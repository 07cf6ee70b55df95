"""The tables of a review set as declared columns.

One declaration serves reading, checking and writing, ``FORMAT.md`` (a test compares them), and
:mod:`rexview.frames`, which defines the columns after reading.
"""

from __future__ import annotations

from typing import Final

from rexview.columns.column import ColumnKind, DeclaredColumn, DeclaredTable
from rexview.columns.tables import (
    ANSWERS,
    CANDIDATE_RATINGS,
    CANDIDATE_TAGS,
    CANDIDATES,
    CASES,
    CHOICES,
    COMMENTS,
    DECISIONS,
    EDITS,
    FLAGS,
    METRICS,
    OPINIONS,
    PREFERENCES,
    REFERENCES,
    SCORES,
    SELECTIONS,
    VALIDATIONS,
)

__all__ = ["CASES", "TABLES", "ColumnKind", "DeclaredColumn", "DeclaredTable"]

TABLES: Final[dict[str, DeclaredTable]] = {
    table.name: table
    for table in (
        *(CASES, ANSWERS, SCORES, FLAGS, METRICS),
        *(EDITS, CHOICES, PREFERENCES, REFERENCES),
        *(OPINIONS, COMMENTS, DECISIONS),
        *(CANDIDATES, CANDIDATE_RATINGS, CANDIDATE_TAGS, SELECTIONS, VALIDATIONS),
    )
}
