"""The tables of the page Report generation as data frames to take away, each number with its n."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from rexview.analysis.report_generation.tables import (
    STUDIES,
    ErrorFreeTables,
    PreferenceTables,
    ReportGroups,
    ReportTables,
    shown_name,
)
from rexview.metrics.identity import MetricId
from rexview.stats.generated_reports.board import BoardCell
from rexview.stats.generated_reports.line_edits import FREE_OF

ERROR_SHARES: Final = ("Share", "CI low", "CI high")
"""The columns that hold shares, 0 to 1."""
_WHOLE: Final = ("Place", "Place low", "Place high", "n", "Patients", "Won", "Tied", "Lost")


def board_frame(tables: ReportTables) -> pd.DataFrame:
    """Return a board with a row for each metric and model, with the metric's identity."""
    return _whole(
        pd.DataFrame(
            _metric_row(metric, tables.names[model], tables.board.cells[metric, model])
            for metric in tables.metrics
            for model in tables.board.models
        )
    )


def report_group_frame(groups: ReportGroups, names: Mapping[str, str]) -> pd.DataFrame:
    """Return one metric by group and model."""
    return _whole(
        pd.DataFrame(
            {
                groups.by.name: group.name,
                **_metric_row(groups.metric, names[model], group.board.cells[groups.metric, model]),
            }
            for group in groups.groups
            for model in group.board.models
        )
    )


def _metric_row(metric: MetricId, name: str, cell: BoardCell) -> dict[str, Any]:
    rank = cell.rank
    return {
        "Metric": shown_name(metric),
        "Implementation": metric.implementation,
        "Version": metric.version,
        "Sections": metric.scope,
        "Model": name,
        "n": cell.n,
        "Patients": cell.patients,
        "Value": cell.shown,
        "CI low": cell.shown_interval.low,
        "CI high": cell.shown_interval.high,
        "Place": rank and rank.place,
        "Place low": rank and rank.low,
        "Place high": rank and rank.high,
        "Undefined because": cell.why,
    }


def error_free_frame(tables: ErrorFreeTables, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the error-free shares, a row for each reader, model, kind of study and threshold."""
    return _whole(
        pd.DataFrame(
            {
                "Corrected by": tables.readers[row.numbers.reader],
                "Model": names[row.numbers.model],
                "Studies": STUDIES[row.studies],
                "Free of": FREE_OF[row.numbers.severity],
                "Error-free": row.numbers.rate.flagged,
                "n": row.numbers.rate.n,
                "Share": row.numbers.rate.share,
                "CI low": row.numbers.rate.interval.low,
                "CI high": row.numbers.rate.interval.high,
                "Left out": row.numbers.ungraded,
            }
            for row in tables.rows
        )
    )


def preference_frame(tables: PreferenceTables, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the strengths, the strongest model first."""
    return _whole(
        pd.DataFrame(
            {
                "Model": names[model],
                "Place": one.rank and one.rank.place,
                "Place low": one.rank and one.rank.low,
                "Place high": one.rank and one.rank.high,
                "Strength": one.strength,
                "CI low": one.interval.low,
                "CI high": one.interval.high,
                "Won": one.won,
                "Tied": one.tied,
                "Lost": one.lost,
                "n": one.n,
                "Undefined because": one.why,
            }
            for model, one, _ in tables.rows
        )
    )


def _whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep whole numbers whole where some are missing."""
    return frame.astype({name: "Int64" for name in _WHOLE if name in frame})
