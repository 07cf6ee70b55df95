"""Whether readers agree: kappa, differences and shares for each pair of readers, alpha for all.

Definitions (docs: statistics):

- The unit is the **answer**; for the image dimensions it is the **picture** that was scored. A pair
  of readers is compared over the units that both scored, so a unit with three readers counts once
  in each of their three pairs.
- **Kappa** is Cohen's with quadratic weights over the fixed scale 1 to 5, also when a level is
  unused. Where a reader gave one and the same score throughout, kappa would be 0 (or 0 / 0) however
  close the readers are: without variance it is undefined, never 0 or 1.
- **Alpha** (:mod:`rexview.stats.alpha`) is there where more than two readers scored.
- Confidence intervals are bootstrapped over units (:mod:`rexview.stats.bootstrap`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.stats.alpha import Alpha, alphas
from rexview.stats.bootstrap import RESAMPLES, Counts, Floats, Interval
from rexview.stats.units import LEVELS, interval_or_none, unit_name, units_of
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS, SCORE_MIN

__all__ = [
    "Alpha",
    "PairAgreement",
    "agreement_of_table",
    "alphas",
    "pair_agreements",
    "quadratic_kappa",
]

LOW_KAPPA: Final = 0.4
CLOSE: Final = 0.8
NARROW_SD: Final = 1.0
_K: Final = len(LEVELS)
_ROW: Final = np.repeat(LEVELS, _K)
_COLUMN: Final = np.tile(LEVELS, _K)
_APART: Final = np.abs(_ROW - _COLUMN)


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """How far two readers agree on one dimension, over the units that both scored.

    Attributes
    ----------
    dimension, reader_a, reader_b : str
    n : int
        Answers that both scored; pictures for the image dimensions.
    qwk : float or None
        Quadratic-weighted kappa.
    mad : float or None
        Mean absolute difference, points.
    exact, within_one : float or None
        Share of units with the same score, and with scores at most one point apart, 0 to 1.
    mean_a, mean_b, sd_a, sd_b : float or None
        Mean and sample standard deviation (n - 1) of each reader's scores.
    difference : float or None
        Mean of reader a's score minus reader b's, points: below 0 where a is stricter.
    qwk_interval, mad_interval, exact_interval, within_one_interval, difference_interval : Interval
    table : numpy.ndarray
        Shape (5, 5): units by score of reader a (rows, 1 to 5) and of reader b (columns).
    why : str or None
        What is missing, in plain words.
    """

    dimension: str
    reader_a: str
    reader_b: str
    n: int
    qwk: float | None
    qwk_interval: Interval
    mad: float | None
    mad_interval: Interval
    exact: float | None
    exact_interval: Interval
    within_one: float | None
    within_one_interval: Interval
    mean_a: float | None
    sd_a: float | None
    mean_b: float | None
    sd_b: float | None
    difference: float | None
    difference_interval: Interval
    table: Counts
    why: str | None

    @property
    def lowered_by_variance(self) -> bool:
        """Whether kappa is low although the readers are close: their scores hardly vary.

        That is: kappa below :data:`LOW_KAPPA`, at least :data:`CLOSE` of the scores within one
        point, and a standard deviation below :data:`NARROW_SD` for one of the readers.
        """
        if self.qwk is None or self.within_one is None or self.sd_a is None or self.sd_b is None:
            return False
        narrow = min(self.sd_a, self.sd_b) < NARROW_SD
        return self.qwk < LOW_KAPPA and self.within_one >= CLOSE and narrow


def pair_agreements(
    marks: pl.DataFrame,
    readers: Sequence[str],
    *,
    dimensions: Sequence[str] = DIMENSIONS,
    resamples: int = RESAMPLES,
) -> tuple[PairAgreement, ...]:
    """Compare every two readers who share any answer.

    Parameters
    ----------
    marks : polars.DataFrame
        As :func:`rexview.stats.values.given_marks` gives them.
    readers : sequence of str
        Whom to compare, in the order in which they stand as reader a and reader b.
    dimensions : sequence of str
        Words of :data:`rexview.vocab.DIMENSIONS`.
    resamples : int
        Bootstrap resamples; 0 for no intervals.

    Returns
    -------
    tuple of PairAgreement
        Pair by pair, dimension by dimension. A pair that shares anything has all text dimensions
        (n may be 0, with the reason) and those image dimensions that it shares.
    """
    tables = {
        (dimension, *pair): table
        for dimension in dimensions
        for pair, table in _tables(units_of(marks, dimension), readers).items()
    }
    return tuple(
        _agreement(dimension, a, b, tables[dimension, a, b], resamples)
        for a, b in combinations(dict.fromkeys(readers), 2)
        if any(tables[dimension, a, b].any() for dimension in dimensions)
        for dimension in dimensions
        if dimension not in IMAGE_DIMENSIONS or tables[dimension, a, b].any()
    )


def quadratic_kappa(counts: Counts) -> Floats:
    """Work out quadratic-weighted kappa for many tables at once.

    Parameters
    ----------
    counts : numpy.ndarray
        Shape (m, 25): m tables of 5 by 5 counts, row by row.

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where both readers only ever gave one and the same score.
    """
    many = np.atleast_2d(counts).astype(np.float64)  # whole numbers: exact far beyond any set
    n = many.sum(axis=1)
    sums_a, sums_b = many @ _ROW, many @ _COLUMN
    squares = many @ (_ROW**2) + many @ (_COLUMN**2)
    by_chance = n * squares - 2 * sums_a * sums_b
    observed = n * (many @ (_APART**2))
    undefined = np.full(len(many), np.nan)
    ratio: Floats = np.divide(observed, by_chance, out=undefined, where=by_chance > 0)
    return 1 - ratio


def agreement_of_table(
    dimension: str, reader_a: str, reader_b: str, table: Counts, *, resamples: int = RESAMPLES
) -> PairAgreement:
    """Work out all numbers of a pair of readers from their 5 by 5 table of counts."""
    return _agreement(dimension, reader_a, reader_b, np.asarray(table, dtype=np.int64), resamples)


def _tables(units: pl.DataFrame, readers: Sequence[str]) -> dict[tuple[str, str], Counts]:
    """Count the shared units of every two readers by their scores: 5 by 5 tables."""
    given: dict[str, tuple[Counts, Counts]] = {}
    parts = units.partition_by("reader", as_dict=True)
    for reader in readers:
        part = parts.get((reader,), units.clear()).sort("unit")
        given[reader] = (
            part["unit"].cast(pl.Int64).to_numpy(),
            part["score"].cast(pl.Int64).to_numpy() - SCORE_MIN,
        )
    found = {}
    for a, b in combinations(given, 2):
        _, in_a, in_b = np.intersect1d(
            given[a][0], given[b][0], assume_unique=True, return_indices=True
        )
        cells = given[a][1][in_a] * _K + given[b][1][in_b]
        found[a, b] = np.bincount(cells, minlength=_K * _K).reshape(_K, _K)
    return found


def _agreement(
    dimension: str, reader_a: str, reader_b: str, table: Counts, resamples: int
) -> PairAgreement:
    counts = table.ravel()
    n = int(counts.sum())
    cells = np.flatnonzero(counts)
    points = np.bincount(_ROW - _COLUMN + _K, weights=counts, minlength=2 * _K).astype(np.int64)
    present = np.flatnonzero(points)
    differences = present - _K

    def mean_of(values: NDArray[Any]) -> tuple[float | None, Interval]:
        """Return the mean of a number that each difference (a minus b) has, and its interval."""
        if not n:
            return None, Interval(None, None, _nothing_shared(dimension))
        weights = values.astype(np.float64)
        mean = float(points[present] @ weights / n)

        def means(many: Counts) -> Floats:
            return np.asarray(many @ weights / many.sum(axis=1), dtype=np.float64)

        return mean, interval_or_none(points[present], means, resamples)

    qwk, why = _kappa(dimension, counts)
    qwk_interval = Interval(None, None, why)
    if qwk is not None:

        def kappas(many: Counts) -> Floats:
            whole = np.zeros((len(many), _K * _K), dtype=np.int64)
            whole[:, cells] = many
            return quadratic_kappa(whole)

        qwk_interval = interval_or_none(counts[cells], kappas, resamples)
    if n == 1:
        why = f"{why or ''} One {unit_name(dimension, 1)}: there is no standard deviation.".strip()
    mean_a, sd_a = _mean_sd(table.sum(axis=1))
    mean_b, sd_b = _mean_sd(table.sum(axis=0))
    return PairAgreement(
        dimension,
        reader_a,
        reader_b,
        n,
        qwk,
        qwk_interval,
        *mean_of(np.abs(differences)),
        *mean_of(differences == 0),
        *mean_of(np.abs(differences) <= 1),
        mean_a,
        sd_a,
        mean_b,
        sd_b,
        *mean_of(differences),
        table,
        why,
    )


def _kappa(dimension: str, counts: Counts) -> tuple[float | None, str | None]:
    """Return kappa by scikit-learn, or None and the reason why it is undefined."""
    met = np.flatnonzero(counts)
    if not len(met):
        return None, _nothing_shared(dimension)
    n = int(counts.sum())
    every = f"{'the one' if n == 1 else f'all {n:,}'} {unit_name(dimension, n)}"
    if len(met) == 1 and not _APART[met[0]]:
        return None, f"Both readers gave {every} the score {_ROW[met[0]]}: kappa is undefined."
    for scores in (_ROW[met], _COLUMN[met]):
        if len(set(scores.tolist())) == 1:
            who = "Each reader" if len(met) == 1 else "A reader"
            which = "one score" if len(met) == 1 else f"the score {scores[0]}"
            return None, f"{who} gave {every} {which}: without variance kappa is undefined."
    from sklearn.metrics import cohen_kappa_score  # slow to import

    kappa = cohen_kappa_score(
        _ROW[met], _COLUMN[met], labels=LEVELS, weights="quadratic", sample_weight=counts[met]
    )
    return float(kappa), None


def _nothing_shared(dimension: str) -> str:
    return f"No {unit_name(dimension, 1)} was scored by both readers."


def _mean_sd(counts: Counts) -> tuple[float | None, float | None]:
    """Return mean and sample standard deviation of scores from how often each was given."""
    n = int(counts.sum())
    if not n:
        return None, None
    levels = np.asarray(LEVELS, dtype=np.float64)
    mean = float(counts @ levels / n)
    if n == 1:
        return mean, None
    return mean, math.sqrt(float(counts @ (levels - mean) ** 2) / (n - 1))
