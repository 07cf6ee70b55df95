"""A board: the mean of each metric for each model, and each model's place by each metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from rexview.stats.bootstrap import RESAMPLES, Interval
from rexview.stats.generated_reports.metric_means import (
    NO_DIRECTION,
    PatientSums,
    Rank,
    column_means,
    ranks,
    reciprocal,
)
from rexview.stats.generated_reports.values import Identity
from rexview.words import tr


class MetricKind(Protocol):
    """What has to be known of a metric: :class:`rexview.metrics.known.KnownMetric` says it."""

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher is better; None where that is not known."""

    @property
    def reciprocal(self) -> str | None:
        """Its name where boards show 1 divided by the mean, else None."""


LEAST_FOR_A_PLACE: Final = 10
"""Of fewer answers in a group (a site) a model has no place there."""
TOO_FEW: Final = tr("Too few answers for a place.")
Kinds = Callable[[str], MetricKind]
"""Says what is known of a metric by its name."""


@dataclass(frozen=True)
class BoardCell:
    """One metric of one model over ``n`` answers of so many patients.

    ``mean`` and ``interval`` are of the values as given; ``shown`` and ``shown_interval`` what a
    board shows, which of some metrics is the reciprocal. What is undefined is None, and ``why``
    says why. ``rank`` is None without a mean, or where it is not known which way is better.
    """

    metric: Identity
    model: str
    n: int
    patients: int
    mean: float | None
    interval: Interval
    shown: float | None
    shown_interval: Interval
    rank: Rank | None
    why: str | None


@dataclass(frozen=True, eq=False)
class Board:
    """Metrics by models; ``resamples`` were drawn for the intervals and ranks."""

    metrics: tuple[Identity, ...]
    models: tuple[str, ...]
    cells: Mapping[tuple[Identity, str], BoardCell]
    resamples: int

    def ranked(self, metric: Identity) -> tuple[str, ...]:
        """Return the models from the best to the worst by one metric, those without a rank last."""

        def place(model: str) -> tuple[bool, int]:
            rank = self.cells[metric, model].rank
            return rank is None, rank.place if rank else 0

        return tuple(sorted(self.models, key=place))


def board(
    given: PatientSums,
    metrics: Sequence[Identity],
    models: Sequence[str],
    kinds: Kinds,
    *,
    least: int = 1,
    resamples: int = RESAMPLES,
) -> Board:
    """Work out a board.

    Parameters
    ----------
    given : PatientSums
        Sums by patient of these metrics and models, as
        :meth:`rexview.stats.generated_reports.values.ReportValues.by_patient` gives them.
    metrics, models : sequence
    kinds : callable
        Says which way is better, and of which metrics the reciprocal is shown.
    least : int
        Models with fewer values of a metric have no place by it.
    resamples : int
        Of the bootstrap; 0 for no intervals.
    """
    found = column_means(given, resamples=resamples)
    n, patients = given.n, given.patients
    cells: dict[tuple[Identity, str], BoardCell] = {}
    for place, metric in enumerate(metrics):
        own = slice(place * len(models), (place + 1) * len(models))
        kind = kinds(metric[0])
        places: Sequence[Rank | None] = [None] * len(models)
        if kind.higher_is_better is not None:
            better = kind.higher_is_better
            means = np.where(n[own] < least, np.nan, found.means[own])
            places = ranks(means, found.drawn[:, own], higher_is_better=better)
        for column, model, rank in zip(range(own.start, own.stop), models, places, strict=True):
            mean = float(found.means[column]) if np.isfinite(found.means[column]) else None
            limits = found.intervals[column]
            shown, shown_limits = mean, limits
            if kind.reciprocal:
                shown, shown_limits = reciprocal(mean, limits)
            why = shown_limits.why
            if mean is not None and rank is None:
                why = why or (NO_DIRECTION if kind.higher_is_better is None else TOO_FEW)
            cells[metric, model] = BoardCell(
                metric=metric,
                model=model,
                n=int(n[column]),
                patients=int(patients[column]),
                mean=mean,
                interval=limits,
                shown=shown,
                shown_interval=shown_limits,
                rank=rank,
                why=why,
            )
    return Board(tuple(metrics), tuple(models), cells, found.resamples)
