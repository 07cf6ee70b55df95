"""The tables of the pages as data frames to take away, every number with its n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from rexview.analysis.failures.tables import FailureGroups, FailureTables
from rexview.analysis.meeting.decisions import Decision
from rexview.analysis.readers.tables import ReaderTables
from rexview.analysis.scores.tables import ScoreTables
from rexview.vocab import DIMENSION_NAMES, FAILURES

SCORE_SHARES: Final = ("Score 5", "Below 3")
READER_SHARES: Final = ("Same", "Within one")
FAILURE_SHARES: Final = ("Share", "CI low", "CI high")
"""The columns of each table that hold shares, 0 to 1."""
_COUNTS: Final = ("Failed", "n", "Answers", "Possible (hints)", "Only first", "Only second")


def score_frame(tables: ScoreTables, dimensions: Sequence[str]) -> pd.DataFrame:
    """Return some dimensions with a row for each model, then a row for each comparison."""
    rows = []
    for dimension in dimensions:
        for model, name in tables.models.items():
            cell = tables.cell(dimension, model)
            if cell is None:
                continue
            found = cell.summary
            rows.append(
                {
                    "Score": cell.name,
                    "Model": name,
                    "n": found.n,
                    "Mean": found.mean,
                    "SD": found.sd,
                    "CI low": found.interval.low,
                    "CI high": found.interval.high,
                    "Score 5": found.share_5,
                    "Below 3": found.share_below_3,
                }
            )
        rows += [
            {
                "Score": DIMENSION_NAMES[dimension],
                "Model": f"{tables.models[test.model_a]} minus {tables.models[test.model_b]}",
                "n": test.n_pairs,
                "Mean": test.mean_difference,
                "CI low": test.interval.low,
                "CI high": test.interval.high,
                "p": test.p,
                "p adjusted": test.p_adj,
                "Effect": test.effect,
            }
            for test in tables.comparison.tests
            if test.dimension == dimension
        ]
    return pd.DataFrame(rows)


def reader_frame(tables: ReaderTables) -> pd.DataFrame:
    """Return the agreement of the chosen pair of readers, a row for each dimension."""
    return pd.DataFrame(
        {
            "Score": DIMENSION_NAMES[row.numbers.dimension],
            "n": row.numbers.n,
            "Kappa": row.numbers.qwk,
            "Kappa CI low": row.numbers.qwk_interval.low,
            "Kappa CI high": row.numbers.qwk_interval.high,
            "Mean absolute difference": row.numbers.mad,
            "Difference CI low": row.numbers.mad_interval.low,
            "Difference CI high": row.numbers.mad_interval.high,
            "Same": row.numbers.exact,
            "Within one": row.numbers.within_one,
            f"Mean {tables.readers.get(row.numbers.reader_a, row.numbers.reader_a)}": (
                row.numbers.mean_a
            ),
            f"Mean {tables.readers.get(row.numbers.reader_b, row.numbers.reader_b)}": (
                row.numbers.mean_b
            ),
            "Undefined because": row.numbers.why,
        }
        for row in tables.dimensions
    )


def failure_frame(tables: FailureTables) -> pd.DataFrame:
    """Return the rate of each failure and model, then a row for each comparison."""
    rows: list[dict[str, object]] = []
    for failure in tables.failures:
        name = FAILURES[failure].name
        rows += [
            {
                "Failure": name,
                "Model": tables.models[row.model],
                "Failed": row.flagged.value,
                "n": row.rate.n,
                "Share": row.rate.share,
                "CI low": row.rate.interval.low,
                "CI high": row.rate.interval.high,
                "Answers": row.answers,
                "Possible (hints)": row.hinted.value,
            }
            for row in tables.of(failure)
        ]
        rows += [
            {
                "Failure": name,
                "Model": f"{tables.models[test.model_a]} minus {tables.models[test.model_b]}",
                "n": test.n_pairs,
                "Share": test.difference,
                "CI low": test.interval.low,
                "CI high": test.interval.high,
                "Only first": test.only_a,
                "Only second": test.only_b,
                "p": test.p,
                "p adjusted": test.p_adj,
            }
            for test in tables.tests
            if test.failure == failure
        ]
    frame = pd.DataFrame(rows)
    counts = [name for name in _COUNTS if name in frame]
    return frame.astype(dict.fromkeys(counts, "Int64"))  # else gaps would turn 3 into 3.0


def group_frame(groups: FailureGroups) -> pd.DataFrame:
    """Return one failure by group and model."""
    return pd.DataFrame(
        {
            groups.by.name: group.name,
            "Model": groups.models[cell.model],
            "Failed": cell.flagged.value,
            "n": cell.rate.n,
            "Share": cell.rate.share,
            "CI low": cell.rate.interval.low,
            "CI high": cell.rate.interval.high,
            "Small group": "yes" if cell.is_small else "no",
        }
        for group in groups.groups
        for cell in group.cells
    )


def decision_frame(decisions: Sequence[Decision], models: Mapping[str, str]) -> pd.DataFrame:
    """Return a row for each decision of meetings; ``models`` has the names of models by id."""
    return pd.DataFrame(
        [
            {
                "Meeting": one.meeting_name,
                "Day": one.held,
                "Case": one.case,
                "Answer of": models.get(one.model, one.model) if one.model else None,
                "Decision": one.decision_words,
                "Failure": one.failure_words,
                "Harm": one.severity,
                "Owner": one.owner,
                "Due": one.due,
                "Done": "yes" if one.done else "no",
                "Notes": one.comment,
                "Written by": one.by,
                "Answer changed since": "yes" if one.replaced else "no",
            }
            for one in decisions
        ]
    )
