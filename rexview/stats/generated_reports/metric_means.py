"""Means of metrics of generated reports, with intervals and ranks that resample patients.

Definitions (docs: statistics):

- The **mean** of a metric is over the answers that have a value of it. Where a board shows 1
  divided by it (RadCliQ, FineRadScore), the reciprocal is taken of the mean, and of both limits.
- Its **interval** is BCa, as everywhere here, with patients (else studies, else cases) drawn and
  all of their answers with them: the mean is a ratio of sums over patients.
- All metrics and models of one tally share their draws, so that **ranks** are of models on the same
  resampled patients. The limits of a rank are the 2.5 and 97.5 percentiles of the resampled ranks.

Drawing patients is one matrix product: rows of how often each patient was drawn, times the sums of
each patient. :func:`rexview.stats.bootstrap.interval` draws counts of distinct values instead,
which for real numbers would be as many values as answers, anew for each model and metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rexview.stats.bootstrap import LEVEL, RESAMPLES, SEED, Floats, Interval, interval_of_draws
from rexview.words import tr

NO_VALUE: Final = tr("No answer has a value.")
ONE_PATIENT: Final = tr(
    "All values are of one patient: they say nothing about how others would vary."
)
NO_RECIPROCAL: Final = tr("The mean is not above 0: it has no reciprocal.")
NO_RECIPROCAL_LIMITS: Final = tr(
    "The lower limit of the mean is not above 0: the reciprocal has no upper one."
)
NO_DIRECTION: Final = tr("Which way is better is not known of this metric.")
_CELLS: Final = 2_000_000
"""So many counts are drawn at a time, at most: it bounds the memory."""
_COUNTED: Final = 200_000
"""So many of them are counted at a time: they stay in the processor's cache."""
_MOST_DRAWN: Final = 60_000_000
"""With more patients than this allows at 9,999 resamples fewer are drawn."""
_FEWEST: Final = 999
_DIGITS: Final = 12
"""Means that agree to so many digits are equal: added up in another order they may differ."""


@dataclass(frozen=True, eq=False)
class PatientSums:
    """Sums of the values of each patient and column, and how many there are.

    ``sums`` and ``counts`` have shape (patients, columns); a column is one metric of one model.
    """

    sums: Floats
    counts: NDArray[np.int64]

    @property
    def n(self) -> NDArray[np.int64]:
        """Values of each column."""
        found: NDArray[np.int64] = self.counts.sum(axis=0)
        return found

    @property
    def patients(self) -> NDArray[np.int64]:
        """Patients with any value of each column."""
        found: NDArray[np.int64] = (self.counts > 0).sum(axis=0)
        return found

    def only(self, columns: Any) -> PatientSums:
        """Return some of the columns, by their places."""
        return PatientSums(self.sums[:, columns], self.counts[:, columns])


@dataclass(frozen=True, eq=False)
class ColumnMeans:
    """The mean of each column with its interval, and the resampled means.

    ``means`` has shape (columns,), nan without a value; ``drawn`` has shape (resamples, columns).
    """

    means: Floats
    intervals: tuple[Interval, ...]
    drawn: Floats

    @property
    def resamples(self) -> int:
        """How many resamples were drawn."""
        return len(self.drawn)


@dataclass(frozen=True)
class Rank:
    """The place of one model, 1 for the best, with the limits that resampling gives it.

    Models of the same mean share a place. Limits are None where nothing was resampled.
    """

    place: int
    low: int | None
    high: int | None


def sum_by_patient(
    values: NDArray[Any], columns: NDArray[Any], patients: NDArray[Any], n_columns: int
) -> PatientSums:
    """Sum values by patient and column.

    Parameters
    ----------
    values, columns, patients : numpy.ndarray
        Shape (n,): finite values, the place of their column, the number of their patient.
    n_columns : int
        How many columns there are; one may have no value.
    """
    met, rows = np.unique(patients, return_inverse=True)
    cells = rows * n_columns + columns
    shape = (len(met), n_columns)
    size = len(met) * n_columns
    sums = np.bincount(cells, values, minlength=size).astype(np.float64)
    counts = np.bincount(cells, minlength=size).astype(np.int64)
    return PatientSums(sums.reshape(shape), counts.reshape(shape))


def column_means(
    given: PatientSums, *, resamples: int = RESAMPLES, seed: int = SEED
) -> ColumnMeans:
    """Work out the mean of each column and its interval; with 0 resamples without intervals.

    Of very many patients fewer resamples are drawn: :attr:`ColumnMeans.resamples` says how many.
    """
    n = given.n
    with np.errstate(invalid="ignore", divide="ignore"):
        means = given.sums.sum(axis=0) / n
    resamples = _affordable(resamples, len(given.sums))
    kinds, which = np.unique(given.counts, axis=1, return_inverse=True)  # most columns are alike
    sizes, which = kinds.astype(np.float64), which.ravel()
    with np.errstate(invalid="ignore", divide="ignore"):  # nan where no value was drawn
        parts = [
            (times @ given.sums) / (times @ sizes)[:, which]
            for times in times_drawn(len(given.sums), resamples, seed)
        ]
    drawn = np.concatenate(parts) if parts else np.empty((0, len(means)))
    intervals = tuple(
        _interval(float(means[column]), given, column, drawn[:, column])
        for column in range(len(means))
    )
    return ColumnMeans(means, intervals, drawn)


def reciprocal(mean: float | None, limits: Interval) -> tuple[float | None, Interval]:
    """Return 1 divided by a mean, and by the limits of its interval, the other way round."""
    if mean is None or mean <= 0:
        return None, Interval(None, None, NO_VALUE if mean is None else NO_RECIPROCAL)
    if limits.low is None or limits.high is None or limits.low <= 0:
        return 1 / mean, Interval(
            None, None, limits.why if limits.low is None else NO_RECIPROCAL_LIMITS
        )
    return 1 / mean, Interval(1 / limits.high, 1 / limits.low)


def ranks(means: Floats, drawn: Floats, *, higher_is_better: bool) -> tuple[Rank | None, ...]:
    """Rank models on one metric.

    Parameters
    ----------
    means : numpy.ndarray
        Shape (models,), nan for a model without a value: it has no rank.
    drawn : numpy.ndarray
        Shape (resamples, models), as in :class:`ColumnMeans`; none for no limits.
    higher_is_better : bool
    """
    known = np.isfinite(means)
    sign = 1.0 if higher_is_better else -1.0
    places = _places(sign * means[known][np.newaxis])[0]
    limits = np.empty((2, 0), dtype=np.int64)
    if len(drawn) and known.any():
        resampled = _places(np.nan_to_num(sign * drawn[:, known], nan=-np.inf))
        tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        limits = np.quantile(resampled, tails, axis=0, method="inverted_cdf").astype(np.int64)
    found: list[Rank | None] = [None] * len(means)
    for at, column in enumerate(np.flatnonzero(known).tolist()):
        low, high = limits[:, at].tolist() if limits.size else (None, None)
        found[column] = Rank(int(places[at]), low, high)
    return tuple(found)


def _places(goodness: Floats) -> NDArray[np.int64]:
    """Return the place of each model of each row, shape (m, models): 1 and how many are better."""
    found: NDArray[np.int64] = np.ones(goodness.shape, dtype=np.int64)
    goodness = np.round(goodness, _DIGITS)
    for column in range(goodness.shape[1]):
        found += goodness[:, column, np.newaxis] > goodness
    return found


def _affordable(resamples: int, patients: int) -> int:
    if not patients:
        return 0
    return min(resamples, max(_FEWEST, _MOST_DRAWN // patients))


def times_drawn(patients: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Draw how often each patient is taken, so many rows at a time as memory allows."""
    random = np.random.default_rng(seed)
    size, part = (max(1, cells // max(patients, 1)) for cells in (_CELLS, _COUNTED))
    for start in range(0, resamples, size):
        times = np.empty((min(size, resamples - start), patients))
        for first in range(0, len(times), part):
            rows = times[first : first + part]
            drawn = random.integers(0, patients, rows.shape, dtype=np.int32)
            drawn += (np.arange(len(rows), dtype=np.int32) * patients)[:, np.newaxis]
            rows[:] = np.bincount(drawn.ravel(), minlength=rows.size).reshape(rows.shape)
        yield times


def _interval(mean: float, given: PatientSums, column: int, drawn: Floats) -> Interval:
    counts, sums = given.counts[:, column], given.sums[:, column]
    has = counts > 0
    if has.sum() < 2:
        return Interval(None, None, ONE_PATIENT if has.any() else NO_VALUE)
    if not len(drawn):
        return Interval(None, None)
    left_out = (sums.sum() - sums[has]) / (counts.sum() - counts[has])
    return interval_of_draws(mean, drawn, left_out, np.ones(len(left_out), dtype=np.int64))
