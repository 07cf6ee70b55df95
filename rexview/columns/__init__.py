"""The tables of a review set as declared columns.

One declaration serves reading, checking and writing, ``FORMAT.md`` (a test keeps it in step), and
:mod:`rexview.frames`, which says what the columns become once they are read.
"""

from __future__ import annotations

from typing import Final

from rexview.columns.column import Column, Kind, Table
from rexview.columns.curation import (
    CANDIDATE_RATINGS,
    CANDIDATE_TAGS,
    CANDIDATES,
    SELECTIONS,
    VALIDATIONS,
)
from rexview.columns.given import ANSWERS, CASES, METRICS
from rexview.columns.meetings import COMMENTS, DECISIONS
from rexview.columns.readers import CHOICES, EDITS, FLAGS, OPINIONS, PREFERENCES, REFERENCES, SCORES

__all__ = ["CASES", "TABLES", "Column", "Kind", "Table"]

TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        *(CASES, ANSWERS, SCORES, FLAGS, METRICS),
        *(EDITS, CHOICES, PREFERENCES, REFERENCES),
        *(OPINIONS, COMMENTS, DECISIONS),
        *(CANDIDATES, CANDIDATE_RATINGS, CANDIDATE_TAGS, SELECTIONS, VALIDATIONS),
    )
}
