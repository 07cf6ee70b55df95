"""Error-free shares, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rexview.stats.error_free_reports import (
    ERROR_FREE_NAMES,
    NOTHING_GRADED,
    UNNAMED_EDITOR_ID,
    find_worst_edits,
    measure_error_free,
    tally_error_free,
)
from rexview.vocab import EDIT_SEVERITIES

EDITS = pl.DataFrame(
    [
        ("c1", "m", "r", "keep", None),
        ("c1", "m", "r", "substitute", 1),
        ("c2", "m", "r", "delete", 2),
        ("c2", "m", "r", "insert", None),
        ("c3", "m", "r", "insert", 3),
        ("c4", "m", "r", "keep", None),
        ("c5", "m", "r", "substitute", None),
        ("c1", "m", None, "delete", 4),
    ],
    schema={
        "case": pl.String,
        "model": pl.String,
        "reader": pl.String,
        "action": pl.String,
        "severity": pl.Int64,
    },
    orient="row",
)


def test_the_worst_error_of_each_report_by_hand() -> None:
    assert find_worst_edits(EDITS).rows() == [
        ("c1", "m", "r", 1, False),
        ("c2", "m", "r", 2, True),
        ("c3", "m", "r", 3, False),
        ("c4", "m", "r", 0, False),
        ("c5", "m", "r", 0, True),
        ("c1", "m", UNNAMED_EDITOR_ID, 4, False),
    ]


@pytest.mark.parametrize(
    ("severity", "free", "n", "ungraded"),
    # c5 is never known; c2 has an edit without severity, which matters only where 2 is no error
    [(1, 1, 4, 1), (2, 2, 4, 1), (3, 2, 3, 2)],
)
def test_shares_by_hand(severity: int, free: int, n: int, ungraded: int) -> None:
    mine = find_worst_edits(EDITS).filter(pl.col("reader") == "r")
    tally = tally_error_free(
        "r", "m", severity, *(mine[name].to_numpy() for name in ("worst", "ungraded")), np.arange(5)
    )
    found = measure_error_free(tally)
    assert (found.rate.flagged, found.rate.n, found.ungraded) == (free, n, ungraded)
    assert found.rate.share == free / n
    assert found.rate.method == "wilson"


def test_nothing_gone_over_has_a_reason() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    tally = tally_error_free("r", "m", 2, nothing, nothing.astype(bool), nothing)
    assert measure_error_free(tally).why == NOTHING_GRADED


def test_thresholds_are_named_as_severities_are() -> None:
    assert EDIT_SEVERITIES[2].startswith("Actionable")
    assert "actionable" in ERROR_FREE_NAMES[2]
    assert list(ERROR_FREE_NAMES) == [3, 2, 1]
