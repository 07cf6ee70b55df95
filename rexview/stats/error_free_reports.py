"""Error-free reports: shares without an error of a severity, by the reader who corrected the lines.

Definitions (docs: statistics):

- A report was **checked** by a reader (or judge) if they have any row about it, even one that keeps
  a line as it is. Only checked reports count.
- Its **worst error** is the highest severity of their edits. It is **free** of errors from a
  severity on if its worst error is below that severity. An edit without a severity leaves open
  whether a report is free, unless another edit is severe enough. Such reports are ``ungraded``.
- The interval is that of every share here (:func:`rexview.stats.failure_rates.measure_rate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.failure_rates import (
    PatientTally,
    Rate,
    find_clusters,
    measure_rate,
    tally_patients,
)
from rexview.words import tr

ERROR_FREE_NAMES: Final[dict[int, str]] = {
    3: tr("No significant error"),
    2: tr("No actionable error"),
    1: tr("No error"),
}
"""Names of thresholds: no edit of that severity or above (the first two are ReXrank's)."""
UNNAMED_EDITOR_ID: Final = ""
"""Reader id for edits without a named reader."""
NOTHING_GRADED: Final = tr("No report was reviewed and graded.")


@dataclass(frozen=True, eq=False)
class ErrorFreeTally:
    """The reports of one model that one reader checked, for one threshold.

    ``free`` tallies patients by their reports without such an error. ``ungraded`` reports are left
    out, because severities are missing.
    """

    reader: str
    model: str
    severity: int
    free: PatientTally
    ungraded: int


@dataclass(frozen=True)
class ErrorFreeShare:
    """The share of reports without an error of a severity or above, by one reader."""

    reader: str
    model: str
    severity: int
    rate: Rate
    ungraded: int
    why: str | None


def find_worst_edits(edits: pl.DataFrame) -> pl.DataFrame:
    """Return the severity of the worst error for each checked report and reader.

    Parameters
    ----------
    edits : polars.DataFrame
        ``case``, ``model``, ``reader``, ``action`` and ``severity`` of :data:`.frames.EDITS`.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model``, ``reader`` (:data:`UNNAMED_EDITOR_ID` where none is named), ``worst``
        (0 for no error) and ``ungraded`` (True if an edit has no severity), one row for each report
        and reader.
    """
    severity = pl.col("severity").filter(pl.col("action") != "keep")
    return edits.group_by(
        "case", "model", pl.col("reader").fill_null(UNNAMED_EDITOR_ID), maintain_order=True
    ).agg(
        worst=severity.max().fill_null(0).cast(pl.Int64),
        ungraded=severity.is_null().any(),
    )


def list_edited_reports(
    review_set: ReviewSet, patients: NDArray[Any] | None = None
) -> pl.DataFrame:
    """Return :func:`find_worst_edits` of the newest answers of a set.

    The result also has ``number`` of the answer and ``patient``, the number of its patient.
    ``patients`` has these numbers by row of the cases, if they are already known.
    """
    if patients is None:
        patients = find_clusters(review_set.cases)["cluster"].to_numpy()
    edited = find_worst_edits(review_set.edits)
    numbers = review_set.numbers_of(edited.select("case", "model"))
    cases = review_set.newest.case[np.maximum(numbers, 0)] if len(review_set.newest) else numbers
    of_patient = np.asarray(patients)[cases] if len(edited) and len(patients) else numbers
    return edited.with_columns(
        pl.Series("number", numbers, dtype=pl.Int64),
        pl.Series("patient", of_patient, dtype=pl.Int64),
    ).filter(pl.col("number") >= 0)


def count_error_free(
    edited: pl.DataFrame, readers: Sequence[str], models: Sequence[str]
) -> tuple[ErrorFreeTally, ...]:
    """Count reports without errors (:func:`list_edited_reports`) by reader, model and threshold.

    Readers and models come in the order given, then others who corrected, such as judges.
    """
    parts = edited.partition_by("reader", "model", as_dict=True, maintain_order=True)
    everybody = [*readers, *edited["reader"].unique().sort().to_list(), UNNAMED_EDITOR_ID]
    return tuple(
        tally_error_free(
            reader,
            model,
            severity,
            *(part[name].to_numpy() for name in ("worst", "ungraded", "patient")),
        )
        for reader in sorted(dict.fromkeys(everybody), key=lambda one: one == UNNAMED_EDITOR_ID)
        for model in models
        if (part := parts.get((reader, model))) is not None
        for severity in ERROR_FREE_NAMES
    )


def tally_error_free(
    reader: str,
    model: str,
    severity: int,
    worst: NDArray[Any],
    ungraded: NDArray[np.bool_],
    patients: NDArray[np.int64],
) -> ErrorFreeTally:
    """Tally the reports that one reader checked, by patient; arrays have shape (n,)."""
    free = worst < severity
    known = ~(free & ungraded)
    points = free[known].astype(np.int64)
    return ErrorFreeTally(
        reader,
        model,
        severity,
        tally_patients(points, patients[known]),
        int((~known).sum()),
    )


def measure_error_free(given: ErrorFreeTally, *, resamples: int = RESAMPLES) -> ErrorFreeShare:
    """Return an error-free share with its interval."""
    share = measure_rate(given.free, resamples=resamples)
    why = share.interval.why if share.n else NOTHING_GRADED
    return ErrorFreeShare(given.reader, given.model, given.severity, share, given.ungraded, why)
