"""One's own models among those of a printed board, by the same metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.analysis.published.rexrank import PublishedBoard, PublishedMean
from rexview.analysis.report_generation.tables import ReportTables
from rexview.metrics.identity import MetricId
from rexview.metrics.known import known_metric
from rexview.stats.generated_reports.board import BoardCell
from rexview.words import tr

OTHER_NUMBER: Final = tr(
    "Another implementation of a metric is another number, and these are "
    "other studies: a place among printed ones is a hint, not a result."
)


@dataclass(frozen=True)
class OwnValue:
    """What one of our models has of a printed metric, with what computed it."""

    metric: MetricId
    cell: BoardCell


@dataclass(frozen=True)
class PlacedRow:
    """A model of a printed board (``own`` is None), or one of ours (``printed`` is empty).

    ``own`` has by printed metric what our model has of it, in each implementation. ``model`` is
    the printed name, or our model's id.
    """

    model: str
    printed: dict[str, PublishedMean]
    own: dict[str, tuple[OwnValue, ...]] | None


def published_metric(metric: MetricId) -> str:
    """Return the name under which ReXrank prints a metric: of some its reciprocal."""
    return known_metric(metric.metric).reciprocal or metric.metric


def placed_rows(
    board: PublishedBoard, tables: ReportTables | None, ranked_by: str
) -> tuple[PlacedRow, ...]:
    """Put printed models and our own in order by one printed metric, the best first.

    Ours stand where their mean of that metric puts them (by the first of several implementations),
    those without one at the end; nothing of ours stands there where ``tables`` are of another
    section.
    """
    rows: list[tuple[tuple[bool, float], PlacedRow]] = []
    for model in board.models:
        printed = {name: cell for (one, name), cell in board.cells.items() if one == model}
        mean = printed[ranked_by].mean if ranked_by in printed else None
        rows.append((_key(mean), PlacedRow(model, printed, None)))
    if tables is not None and tables.scope == board.section:
        for model in tables.board.models:
            own: dict[str, tuple[OwnValue, ...]] = {}
            for metric in tables.metrics:
                cell = tables.board.cells[metric, model]
                if cell.shown is not None:
                    name = published_metric(metric)
                    own[name] = (*own.get(name, ()), OwnValue(metric, cell))
            first = own[ranked_by][0].cell.shown if ranked_by in own else None
            rows.append((_key(first), PlacedRow(model, {}, own)))
    return tuple(row for _, row in sorted(rows, key=lambda row: row[0]))


def _key(mean: float | None) -> tuple[bool, float]:
    return mean is None, -(mean or 0.0)
