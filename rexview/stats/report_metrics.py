"""Metrics of generated reports: values, means with intervals, distribution, and leaderboards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import LEVEL, RESAMPLES, SEED, Floats, Interval, interval_from_draws
from rexview.stats.failure_rates import find_clusters
from rexview.words import tr

NO_VALUE: Final = tr("No answer has a value.")
ONE_PATIENT: Final = tr(
    "All values are of one patient: they say nothing about how others would vary."
)
NO_RECIPROCAL: Final = tr("The mean is not above 0: it has no reciprocal.")
NO_RECIPROCAL_LIMITS: Final = tr(
    "The lower limit of the mean is not above 0: the reciprocal has no upper one."
)
NO_DIRECTION_REASON: Final = tr("It is unknown which way is better for this metric.")
_CELLS: Final = 2_000_000
"""Most counts drawn at a time, which bounds the memory."""
_COUNTED: Final = 200_000
"""Number of draws counted at a time, which fit into the processor's cache."""
_MOST_DRAWN: Final = 60_000_000
"""Most draws (patients times resamples); more patients have fewer than 9,999 resamples."""
_FEWEST: Final = 999
_DIGITS: Final = 12
"""Digits to which equal means agree; sums in another order may differ beyond them."""


@dataclass(frozen=True, eq=False)
class PatientSums:
    """Sums and counts of the values of each patient and column.

    ``sums`` and ``counts`` have shape (patients, columns); a column is one metric of one model.
    """

    sums: Floats
    counts: NDArray[np.int64]

    @property
    def n(self) -> NDArray[np.int64]:
        """Number of values of each column."""
        found: NDArray[np.int64] = self.counts.sum(axis=0)
        return found

    @property
    def patients(self) -> NDArray[np.int64]:
        """Number of patients with any value of each column."""
        found: NDArray[np.int64] = (self.counts > 0).sum(axis=0)
        return found

    def only(self, columns: Any) -> PatientSums:
        """Return some of the columns, by index."""
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
        """Number of resamples."""
        return len(self.drawn)


@dataclass(frozen=True)
class ModelRank:
    """The rank of one model, 1 for the best, with limits from resampling.

    Models with the same mean share a rank. Limits are None without resamples.
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
        Shape (n,): finite values, the index of their column, the number of their patient.
    n_columns : int
        Number of columns; a column may have no value.
    """
    met, rows = np.unique(patients, return_inverse=True)
    cells = rows * n_columns + columns
    shape = (len(met), n_columns)
    size = len(met) * n_columns
    sums = np.bincount(cells, values, minlength=size).astype(np.float64)
    counts = np.bincount(cells, minlength=size).astype(np.int64)
    return PatientSums(sums.reshape(shape), counts.reshape(shape))


def compute_column_means(
    given: PatientSums, *, resamples: int = RESAMPLES, seed: int = SEED
) -> ColumnMeans:
    """Return the mean of each column with its interval; with 0 resamples without intervals.

    Very many patients have fewer resamples: see :attr:`ColumnMeans.resamples`.
    """
    n = given.n
    with np.errstate(invalid="ignore", divide="ignore"):
        means = given.sums.sum(axis=0) / n
    resamples = _affordable_resamples(resamples, len(given.sums))
    kinds, which = np.unique(given.counts, axis=1, return_inverse=True)  # few distinct columns
    sizes, which = kinds.astype(np.float64), which.ravel()
    with np.errstate(invalid="ignore", divide="ignore"):  # nan where no value was drawn
        parts = [
            (times @ given.sums) / (times @ sizes)[:, which]
            for times in draw_counts(len(given.sums), resamples, seed)
        ]
    drawn = np.concatenate(parts) if parts else np.empty((0, len(means)))
    intervals = tuple(
        _interval(float(means[column]), given, column, drawn[:, column])
        for column in range(len(means))
    )
    return ColumnMeans(means, intervals, drawn)


def invert_mean(mean: float | None, limits: Interval) -> tuple[float | None, Interval]:
    """Return 1 divided by a mean, and by the limits of its interval, which change places."""
    if mean is None or mean <= 0:
        return None, Interval(None, None, NO_VALUE if mean is None else NO_RECIPROCAL)
    if limits.low is None or limits.high is None or limits.low <= 0:
        return 1 / mean, Interval(
            None, None, limits.why if limits.low is None else NO_RECIPROCAL_LIMITS
        )
    return 1 / mean, Interval(1 / limits.high, 1 / limits.low)


def rank_models(
    means: Floats, drawn: Floats, *, higher_is_better: bool
) -> tuple[ModelRank | None, ...]:
    """Rank models on one metric.

    Parameters
    ----------
    means : numpy.ndarray
        Shape (models,), nan for a model without a value, which has no rank.
    drawn : numpy.ndarray
        Shape (resamples, models), as in :class:`ColumnMeans`; without rows there are no limits.
    higher_is_better : bool
    """
    known = np.isfinite(means)
    sign = 1.0 if higher_is_better else -1.0
    places = _rank_rows(sign * means[known][np.newaxis])[0]
    limits = np.empty((2, 0), dtype=np.int64)
    if len(drawn) and known.any():
        resampled = _rank_rows(np.nan_to_num(sign * drawn[:, known], nan=-np.inf))
        tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        limits = np.quantile(resampled, tails, axis=0, method="inverted_cdf").astype(np.int64)
    found: list[ModelRank | None] = [None] * len(means)
    for at, column in enumerate(np.flatnonzero(known).tolist()):
        low, high = limits[:, at].tolist() if limits.size else (None, None)
        found[column] = ModelRank(int(places[at]), low, high)
    return tuple(found)


def _rank_rows(goodness: Floats) -> NDArray[np.int64]:
    """Return each model's rank in each row, shape (m, models): 1 plus the number of better ones."""
    found: NDArray[np.int64] = np.ones(goodness.shape, dtype=np.int64)
    goodness = np.round(goodness, _DIGITS)
    for column in range(goodness.shape[1]):
        found += goodness[:, column, np.newaxis] > goodness
    return found


def _affordable_resamples(resamples: int, patients: int) -> int:
    if not patients:
        return 0
    return min(resamples, max(_FEWEST, _MOST_DRAWN // patients))


def draw_counts(patients: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield the number of times each patient is drawn, in parts of bounded size."""
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
    return interval_from_draws(mean, drawn, left_out, np.ones(len(left_out), dtype=np.int64))


# The metric values of a set's newest answers, as arrays.

IDENTITY_COLUMNS: Final = ("metric", "implementation", "version", "scope")
"""Columns of the metrics that together identify a metric."""
MetricIdentity = tuple[str, str | None, str | None, str | None]
"""Metric, implementation, version and scope; the last three may be None."""


@dataclass(frozen=True, eq=False)
class ReportValues:
    """Values of metrics; all arrays have shape (n,).

    Attributes
    ----------
    metrics : tuple of MetricIdentity
        All metrics with a value in the set, in the order of the file.
    models : tuple of str
        Ids of the set's models, in its order.
    number : numpy.ndarray
        Number of the answer (:class:`rexview.frames.AnswerRows`).
    metric, model : numpy.ndarray
        Indices into ``metrics`` and ``models``.
    patient : numpy.ndarray
        Number of the patient, else the study, else the case.
    value : numpy.ndarray
        The values as in the file; all are finite.
    together : numpy.ndarray
        Number of answers that it was computed on together, 0 if unknown.
    """

    metrics: tuple[MetricIdentity, ...]
    models: tuple[str, ...]
    number: NDArray[np.int64]
    metric: NDArray[np.int64]
    model: NDArray[np.int64]
    patient: NDArray[np.int64]
    value: Floats
    together: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.value)

    def only(self, left: NDArray[np.bool_]) -> ReportValues:
        """Return the values selected by a mask of shape (n,)."""
        if left.all():
            return self
        arrays = ("number", "metric", "model", "patient", "value", "together")
        return ReportValues(
            self.metrics, self.models, **{name: getattr(self, name)[left] for name in arrays}
        )

    def of_answers(self, answers: NDArray[np.bool_]) -> ReportValues:
        """Return the values of some answers, by a mask over their numbers."""
        return self.only(answers[self.number])

    def met(self) -> tuple[MetricIdentity, ...]:
        """Return the metrics that have a value here."""
        counts = np.bincount(self.metric, minlength=len(self.metrics))
        return tuple(one for one, n in zip(self.metrics, counts, strict=True) if n)

    def models_met(self) -> tuple[str, ...]:
        """Return the models that have a value here."""
        counts = np.bincount(self.model, minlength=len(self.models))
        return tuple(one for one, n in zip(self.models, counts, strict=True) if n)

    def by_patient(self, metrics: Sequence[MetricIdentity], models: Sequence[str]) -> PatientSums:
        """Sum the values by patient; column ``i * len(models) + j`` is metric i of model j."""
        places = np.full(len(self.metrics), -1)
        for place, one in enumerate(metrics):
            places[self.metrics.index(one)] = place
        of_model = np.full(len(self.models), -1)
        for place, name in enumerate(models):
            of_model[self.models.index(name)] = place
        metric, model = places[self.metric], of_model[self.model]
        left = (metric >= 0) & (model >= 0)
        columns = metric[left] * len(models) + model[left]
        size = len(metrics) * len(models)
        return sum_by_patient(self.value[left], columns, self.patient[left], size)

    def of(self, metric: MetricIdentity, model: str | None = None) -> ReportValues:
        """Return the values of one metric, of all models or of one."""
        left = self.metric == self.metrics.index(metric)
        if model is not None:
            left &= self.model == self.models.index(model)
        return self.only(left)

    def matrix(
        self, metrics: Sequence[MetricIdentity]
    ) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Return the values as a matrix of answers and metrics.

        Returns
        -------
        values, numbers, patients : numpy.ndarray
            Values of shape (answers, metrics), nan where missing; number and patient by answer.
        """
        numbers, rows = np.unique(self.number, return_inverse=True)
        values = np.full((len(numbers), len(metrics)), np.nan)
        for column, one in enumerate(metrics):
            own = self.metric == self.metrics.index(one)
            values[rows[own], column] = self.value[own]
        patients = np.zeros(len(numbers), dtype=np.int64)
        patients[rows] = self.patient
        return values, numbers, patients


def collect_report_values(
    review_set: ReviewSet, patients: NDArray[Any] | None = None
) -> ReportValues:
    """Return the metric values of the newest answers of a set.

    ``patients`` has the patient numbers by row of the cases, if they are already known.
    """
    given = review_set.metrics.filter(pl.col("value").is_finite())
    numbers = review_set.numbers_of(given.select("case", "model"))
    given, numbers = given.filter(pl.Series(numbers >= 0)), numbers[numbers >= 0]
    named = given.select(IDENTITY_COLUMNS).unique(maintain_order=True).with_row_index("_metric")
    metric = given.join(
        named, on=IDENTITY_COLUMNS, how="left", nulls_equal=True, maintain_order="left"
    )["_metric"]
    if patients is None:
        patients = find_clusters(review_set.cases)["cluster"].to_numpy()
    newest = review_set.newest
    return ReportValues(
        metrics=tuple(named.select(IDENTITY_COLUMNS).iter_rows()),
        models=tuple(model.id for model in review_set.models),
        number=numbers,
        metric=metric.cast(pl.Int64).to_numpy(),
        model=newest.model[numbers].astype(np.int64),
        patient=np.asarray(patients[newest.case[numbers]], dtype=np.int64),
        value=given["value"].to_numpy(),
        together=given["n"].fill_null(0).to_numpy(),
    )


# Leaderboards: the mean of each metric for each model, and each model's rank by each metric.


class MetricKind(Protocol):
    """The facts about a metric for boards: :class:`rexview.metrics.identity.KnownMetric`."""

    @property
    def higher_is_better(self) -> bool | None:
        """True if higher is better; None if that is unknown."""

    @property
    def reciprocal(self) -> str | None:
        """Name of the reciprocal if boards show 1 divided by the mean, else None."""


MIN_ANSWERS_FOR_RANK: Final = 10
"""Fewest answers of a model in a group (a site) for a rank there."""
TOO_FEW: Final = tr("Too few answers for a place.")
MetricKindLookup = Callable[[str], MetricKind]
"""Returns the properties of a metric by name."""


@dataclass(frozen=True)
class LeaderboardCell:
    """One metric of one model over ``n`` answers of ``patients`` patients.

    ``mean`` and ``interval`` are of the original values. ``shown`` and ``shown_interval`` are what
    a board shows, for some metrics the reciprocal. Undefined numbers are None, with the reason in
    ``why``. ``rank`` is None without a mean, or if the metric's direction is unknown.
    """

    metric: MetricIdentity
    model: str
    n: int
    patients: int
    mean: float | None
    interval: Interval
    shown: float | None
    shown_interval: Interval
    rank: ModelRank | None
    why: str | None


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """A leaderboard: metrics by models; ``resamples`` is the number for intervals and ranks."""

    metrics: tuple[MetricIdentity, ...]
    models: tuple[str, ...]
    cells: Mapping[tuple[MetricIdentity, str], LeaderboardCell]
    resamples: int

    def ranked(self, metric: MetricIdentity) -> tuple[str, ...]:
        """Return the models sorted by rank on one metric, those without a rank last."""

        def place(model: str) -> tuple[bool, int]:
            rank = self.cells[metric, model].rank
            return rank is None, rank.place if rank else 0

        return tuple(sorted(self.models, key=place))


def build_board(
    given: PatientSums,
    metrics: Sequence[MetricIdentity],
    models: Sequence[str],
    kinds: MetricKindLookup,
    *,
    least: int = 1,
    resamples: int = RESAMPLES,
) -> Leaderboard:
    """Return a leaderboard of models by metric.

    Parameters
    ----------
    given : PatientSums
        Sums by patient of these metrics and models, from
        :meth:`rexview.stats.report_metrics.ReportValues.by_patient`.
    metrics, models : sequence
    kinds : callable
        Returns a metric's direction, and whether its reciprocal is shown.
    least : int
        Models with fewer values of a metric have no rank by it.
    resamples : int
        Number of resamples for the bootstrap; 0 for no intervals.
    """
    found = compute_column_means(given, resamples=resamples)
    n, patients = given.n, given.patients
    cells: dict[tuple[MetricIdentity, str], LeaderboardCell] = {}
    for place, metric in enumerate(metrics):
        own = slice(place * len(models), (place + 1) * len(models))
        kind = kinds(metric[0])
        places: Sequence[ModelRank | None] = [None] * len(models)
        if kind.higher_is_better is not None:
            better = kind.higher_is_better
            means = np.where(n[own] < least, np.nan, found.means[own])
            places = rank_models(means, found.drawn[:, own], higher_is_better=better)
        for column, model, rank in zip(range(own.start, own.stop), models, places, strict=True):
            mean = float(found.means[column]) if np.isfinite(found.means[column]) else None
            limits = found.intervals[column]
            shown, shown_limits = mean, limits
            if kind.reciprocal:
                shown, shown_limits = invert_mean(mean, limits)
            why = shown_limits.why
            if mean is not None and rank is None:
                why = why or (NO_DIRECTION_REASON if kind.higher_is_better is None else TOO_FEW)
            cells[metric, model] = LeaderboardCell(
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
    return Leaderboard(tuple(metrics), tuple(models), cells, found.resamples)


# The distribution of a metric's values, for box plots.

_WHISKER: Final = 1.5
"""Whiskers reach the furthest value within 1.5 interquartile ranges of the box (Tukey)."""


@dataclass(frozen=True)
class ValueDistribution:
    """Quartiles (linear between values), whiskers, extremes, and values beyond the whiskers."""

    n: int
    lowest: float
    whisker_low: float
    quarter: float
    median: float
    three_quarters: float
    whisker_high: float
    highest: float
    below: int
    above: int


def summarise_values(values: NDArray[Any]) -> ValueDistribution | None:
    """Return the distribution of values of shape (n,), all finite; None without any."""
    if not len(values):
        return None
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    quarter, median, three_quarters = np.quantile(ordered, (0.25, 0.5, 0.75)).tolist()
    reach = _WHISKER * (three_quarters - quarter)
    inside = ordered[(ordered >= quarter - reach) & (ordered <= three_quarters + reach)]
    low, high = float(inside[0]), float(inside[-1])
    return ValueDistribution(
        n=len(ordered),
        lowest=float(ordered[0]),
        whisker_low=low,
        quarter=quarter,
        median=median,
        three_quarters=three_quarters,
        whisker_high=high,
        highest=float(ordered[-1]),
        below=int((ordered < low).sum()),
        above=int((ordered > high).sum()),
    )
