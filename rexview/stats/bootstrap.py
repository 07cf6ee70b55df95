"""One bootstrap for every number: bias-corrected and accelerated (BCa), over counts of values.

Everything that is given an interval here depends on the data only through how often each distinct
value (or each cell of a table) occurs: a mean of scores, a mean difference, a kappa. Drawing n of n
values with replacement and then counting them gives counts that follow a multinomial distribution
with n draws and the observed shares, so the counts are drawn and the values are not. The
resampling is exact, and its cost does not depend on n.

The interval is Efron's BCa (Efron 1987, *Better bootstrap confidence intervals*, JASA 82:171-185),
in the form that ``scipy.stats.bootstrap`` gives it, which the tests compare with: the bias z0 from
the share of resampled numbers below the number itself (ties half), the acceleration from the
jackknife. Leaving out any of several equal values gives the same number, so the jackknife needs one
number for each distinct value, weighted by its count. Numbers are compared after rounding to 12
digits, so that equal means are ties however they were added up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 9_999
LEVEL: Final = 0.95
SEED: Final = 20_260_101

NO_VALUES: Final = "No answer has a value."
ONE_VALUE: Final = "There is one value only: it says nothing about how others would vary."
ALL_EQUAL: Final = "All values are the same: resampling them changes nothing."
NO_CHANGE: Final = "The number is the same whichever cases are drawn."
OFTEN_UNDEFINED: Final = "The number is undefined in more than one of twenty resamples."
LEFT_OUT_UNDEFINED: Final = "The number is undefined when one of the cases is left out."
UNSTABLE: Final = "The correction for bias and skewness is undefined with so few values."

_DIGITS: Final = 12
_SHARED: Final = 500
"""Up to so many values, all tables with the same n share one set of draws."""
_CELLS: Final = 4_000_000
"""So many counts are drawn at a time, at most: it bounds the memory."""
_DEFINED: Final = 0.95

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Statistic = Callable[[Counts], Floats]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or the reason in plain words why there is none."""

    low: float | None
    high: float | None
    why: str | None = None


def interval(
    counts: NDArray[Any],
    statistic: Statistic,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Interval:
    """Work out the BCa interval of a number that depends on counts.

    Parameters
    ----------
    counts : numpy.ndarray
        Shape (k,), how often each of k distinct values occurs. Zeros are allowed.
    statistic : callable
        Maps rows of counts, shape (m, k), to numbers, shape (m,). Rows sum to n, those of the
        jackknife to n - 1: divide by each row's own sum. It may give nan where the number is
        undefined; such resamples are left out as long as they are rare.
    resamples : int
        How many resamples are drawn; with 0 there are no limits and no reason.
    seed : int
        Seed of the draws: the same counts always give the same interval.
    level : float
        The confidence level, between 0 and 1.

    Returns
    -------
    Interval
        Without limits and with a reason where the interval is undefined.
    """
    if not resamples:
        return Interval(None, None)
    observed = np.asarray(counts, dtype=np.int64)
    n = int(observed.sum())
    if n < 2:
        return Interval(None, None, ONE_VALUE if n else NO_VALUES)
    if (observed > 0).sum() < 2:
        return Interval(None, None, ALL_EQUAL)
    number = _numbers(statistic, observed[np.newaxis])[0]
    left_out = _left_out(statistic, observed)
    drawn = np.concatenate(
        [_numbers(statistic, rows) for rows in _draws(observed, resamples, seed)]
    )
    defined = drawn[np.isfinite(drawn)]
    if not np.isfinite(number) or len(defined) < _DEFINED * len(drawn):
        return Interval(None, None, OFTEN_UNDEFINED)
    if not np.isfinite(left_out).all():
        return Interval(None, None, LEFT_OUT_UNDEFINED)
    if np.ptp(defined) < 10**-_DIGITS:
        return Interval(None, None, NO_CHANGE)
    return _limits(float(number), defined, left_out, observed[observed > 0], level)


def _limits(
    number: float, drawn: Floats, left_out: Floats, weights: Counts, level: float
) -> Interval:
    """Take the BCa limits from resampled numbers and those of the jackknife."""
    number, compared = round(number, _DIGITS), np.round(drawn, _DIGITS)
    below = (np.mean(compared < number) + np.mean(compared <= number)) / 2
    pulls = np.average(left_out, weights=weights) - left_out
    squares = float(weights @ pulls**2)
    if not 0 < below < 1 or squares < 10 ** (-2 * _DIGITS):
        return Interval(None, None, UNSTABLE)
    normal = NormalDist()
    bias = normal.inv_cdf(float(below))
    acceleration = float(weights @ pulls**3) / (6 * squares**1.5)
    shares = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        moved = bias + normal.inv_cdf(tail)
        stretch = 1 - acceleration * moved
        if stretch <= 0:
            return Interval(None, None, UNSTABLE)
        shares.append(normal.cdf(bias + moved / stretch))
    low, high = np.quantile(drawn, shares)
    return Interval(float(low), float(high))


def _numbers(statistic: Statistic, rows: Counts) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(statistic(rows), dtype=np.float64)


def _left_out(statistic: Statistic, observed: Counts) -> Floats:
    """Return the number without one of the values, once for each distinct value."""
    present = np.flatnonzero(observed)
    rows = np.repeat(observed[np.newaxis], len(present), axis=0)
    rows[np.arange(len(present)), present] -= 1
    return _numbers(statistic, rows)


def _draws(observed: Counts, resamples: int, seed: int) -> list[Counts]:
    """Draw rows of counts, each summing to n, in parts of bounded size."""
    n = int(observed.sum())
    if n <= _SHARED:
        borders = np.concatenate([[0], np.cumsum(observed)])
        before = _drawn_before(n, resamples, seed)[borders].astype(np.int64)
        return [np.diff(before, axis=0).T]
    random = np.random.default_rng(seed)
    present = observed > 0
    size = max(1, _CELLS // len(observed))
    parts = []
    for start in range(0, resamples, size):
        rows = np.zeros((min(size, resamples - start), len(observed)), dtype=np.int64)
        rows[:, present] = random.multinomial(n, observed[present] / n, size=len(rows))
        parts.append(rows)
    return parts


@lru_cache(maxsize=8)
def _drawn_before(n: int, resamples: int, seed: int) -> NDArray[np.uint16]:
    """Draw n of n places, and count the draws that fell before each place.

    Shape (n + 1, resamples). With values laid out in order over the places, differences of these
    rows are the counts of any table of n values: multinomial, without a draw for each table.
    """
    random = np.random.default_rng(seed)
    places = random.integers(0, n, size=(resamples, n))
    flat = (places + 1) * resamples + np.arange(resamples)[:, np.newaxis]
    drawn = np.bincount(flat.ravel(), minlength=(n + 1) * resamples)
    return np.cumsum(drawn.reshape(n + 1, resamples), axis=0).astype(np.uint16)
