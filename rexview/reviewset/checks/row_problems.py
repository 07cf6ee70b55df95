"""Report rows of a table that were found by a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from rexview.errors import Problem, Severity
from rexview.reviewset.problems import LISTED, ProblemList
from rexview.reviewset.sources import TableSource


def report_rows(
    problems: ProblemList,
    source: TableSource,
    severity: Severity,
    found: pl.DataFrame,
    message: str | Callable[[dict[str, Any]], str],
    remedy: str,
    field: str | Callable[[dict[str, Any]], str] | None = None,
) -> None:
    """Report every row of ``found``, which has the column ``_row``.

    ``message`` and ``field`` may be made from the row as a dict.
    """
    examples = []
    for row in found.head(LISTED).iter_rows(named=True):
        file, file_row = source.place(row["_row"])
        where = field(row) if callable(field) else field
        text = message(row) if callable(message) else message
        examples.append(Problem(severity, file, file_row, where, text, remedy))
    problems.add_many(examples, found.height, table=source.label)
