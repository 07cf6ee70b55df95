"""One bootstrap for every number: bias-corrected and accelerated (BCa), over counts of values.

Every number with an interval here depends on the data only through the counts of the distinct
values (or of the cells of a table): a mean of scores, a mean difference, a kappa. Drawing n of n
values with replacement and counting them gives counts with a multinomial distribution, with n draws
and the observed shares. So the counts are drawn instead of the values. The resampling is exact, and
its cost does not depend on n.

The interval is Efron's BCa (Efron 1987, *Better bootstrap confidence intervals*, JASA 82:171-185),
in the form of ``scipy.stats.bootstrap``, with which the tests compare it. The bias z0 comes from
the share of resampled numbers below the number itself (ties count half), the acceleration from the
jackknife. Leaving out any of several equal values gives the same number, so the jackknife needs one
number for each distinct value, weighted by its count. Numbers are compared after rounding to 12
digits, so that equal means are ties in whatever order they were summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rexview.words import tr

RESAMPLES: Final = 9_999
LEVEL: Final = 0.95
SEED: Final = 20_260_101

NO_VALUES_REASON: Final = tr("No answer has a value.")
ONE_VALUE_REASON: Final = tr(
    "There is one value only: it says nothing about how others would vary."
)
ALL_EQUAL_REASON: Final = tr("All values are the same: resampling them changes nothing.")
NO_CHANGE_REASON: Final = tr("The number is the same whichever cases are drawn.")
OFTEN_UNDEFINED: Final = tr("The number is undefined in more than one of twenty resamples.")
LEFT_OUT_UNDEFINED: Final = tr("The number is undefined when one of the cases is left out.")
UNSTABLE: Final = tr("The correction for bias and skewness is undefined with so few values.")

_DIGITS: Final = 12
_CELLS: Final = 1_000_000
"""Most counts drawn at a time, which bounds the memory."""
_DEFINED: Final = 0.95
_STEPS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 30, 60)
"""Numbers of steps in a point, of which means of scores are multiples."""
_MIN_CLUSTERS: Final = 100
"""Fewest clusters whose sum is nearly normal."""
_MAX_SKEWNESS: Final = 0.25
"""Skewness from which a sum is not nearly normal."""
_MAX_DRAWN_KINDS: Final = 4
"""Up to this number of counts, drawing them is as fast as drawing two sums."""
_MAX_DEVIATIONS: Final = 12
"""Standard deviations from the mean beyond which sums never occur."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Statistic = Callable[[Counts], Floats]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or the reason why there is none, in plain words."""

    low: float | None
    high: float | None
    why: str | None = None


def bootstrap_interval(
    counts: NDArray[Any],
    statistic: Statistic,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Interval:
    """Return the BCa interval of a number that depends on counts.

    Parameters
    ----------
    counts : numpy.ndarray
        Shape (k,), the counts of k distinct values. Zeros are allowed.
    statistic : callable
        Maps rows of counts, shape (m, k), to numbers, shape (m,). Rows sum to n, those of the
        jackknife to n - 1, so it has to divide by each row's own sum. It may return nan where the
        number is undefined; such resamples are left out as long as they are rare.
    resamples : int
        Number of resamples; with 0 there are no limits and no reason.
    seed : int
        Seed of the draws, so that the same counts always give the same interval.
    level : float
        The confidence level, between 0 and 1.
    """
    if not resamples:
        return Interval(None, None)
    observed = np.asarray(counts, dtype=np.int64)
    n = int(observed.sum())
    if n < 2:
        return Interval(None, None, ONE_VALUE_REASON if n else NO_VALUES_REASON)
    if (observed > 0).sum() < 2:
        return Interval(None, None, ALL_EQUAL_REASON)
    number = _numbers(statistic, observed[np.newaxis])[0]
    drawn = np.concatenate(
        [_numbers(statistic, rows) for rows in _draws(observed, resamples, seed)]
    )
    return interval_from_draws(
        number, drawn, _jackknife_values(statistic, observed), observed, level
    )


def make_mean_statistic(values: NDArray[Any]) -> Statistic:
    """Return the statistic that is the mean of k values, from rows of their counts."""

    def means(rows: Counts) -> Floats:
        found: Floats = rows @ values / rows.sum(axis=1)
        return found

    return means


def mean_interval(
    values: NDArray[Any],
    counts: NDArray[Any],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """Return the BCa interval of a mean, faster than :func:`bootstrap_interval`.

    Scores, and their means over a few readers, are whole multiples of a step. So the distribution
    of the sum of n drawn scores is known exactly: that of one score, convolved n times with itself.
    Resampled means are drawn from it directly, one number instead of k counts. Values without such
    a step are drawn as counts.

    ``values`` and ``counts`` have shape (k,): distinct values and their counts.
    """
    means = make_mean_statistic(values)
    observed = np.asarray(counts, dtype=np.int64)
    n, present = int(observed.sum()), np.flatnonzero(observed)
    steps = _as_steps(values[present]) if resamples and len(present) > 1 else None
    if steps is None:
        return bootstrap_interval(observed, means, resamples=resamples, seed=seed)
    in_step, step = steps
    first, shares = _sum_distribution(in_step, observed[present])
    at = first + np.searchsorted(np.cumsum(shares), _uniform(resamples, seed), side="right")
    drawn = values[present].min() + at * step / n
    number = float(means(observed[np.newaxis])[0])
    return interval_from_draws(number, drawn, _jackknife_values(means, observed), observed)


def ratio_interval(
    points: NDArray[Any],
    sizes: NDArray[Any],
    counts: NDArray[Any],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """Return the BCa interval of a ratio of two sums, faster for many clusters.

    A resample of many clusters differs from the ratio by a nearly normal sum, divided by its own
    sum of sizes. These two sums are drawn instead of k counts: the first with its skewness (Cornish
    and Fisher's expansion), the second conditional on the first. Few or very uneven clusters
    (:data:`_MIN_CLUSTERS`, :data:`_MAX_SKEWNESS`) are drawn as counts.

    ``points``, ``sizes`` and ``counts`` have shape (k,): what a cluster of each kind adds to both
    sums, and the number of clusters of that kind.
    """

    def ratios(rows: Counts) -> Floats:
        found: Floats = (rows @ points) / (rows @ sizes)
        return found

    observed = np.asarray(counts, dtype=np.int64)
    n, size = int(observed.sum()), float(observed @ sizes)
    if not resamples or n < _MIN_CLUSTERS or np.count_nonzero(observed) <= _MAX_DRAWN_KINDS:
        return bootstrap_interval(observed, ratios, resamples=resamples, seed=seed)
    number = float(observed @ points) / size
    apart, uneven = points - number * sizes, sizes - size / n
    spread = float(np.sqrt(observed @ apart**2))
    skewness = float(observed @ apart**3) / spread**3 if spread else _MAX_SKEWNESS
    if abs(skewness) >= _MAX_SKEWNESS:
        return bootstrap_interval(observed, ratios, resamples=resamples, seed=seed)
    first, second = _normal(resamples, seed)
    along = float(observed @ (apart * uneven)) / spread
    across = np.sqrt(max(0.0, float(observed @ uneven**2) - along**2))
    drawn = spread * (first + skewness / 6 * (first**2 - 1))
    drawn = number + drawn / (size + along * first + across * second)
    return interval_from_draws(number, drawn, _jackknife_values(ratios, observed), observed, LEVEL)


def clear_draws() -> None:
    """Clear the caches of draws. Results stay the same; only times change."""
    _drawn.cache_clear()
    _uniform.cache_clear()
    _normal.cache_clear()


def _sum_distribution(values: Counts, counts: Counts) -> tuple[int, Floats]:
    """Return the distribution of the sum of n draws: the smallest sum, and shares from there on.

    It is computed by Fourier transform on a circle with room for every sum that occurs: all sums,
    or those within so many standard deviations that the rest, which wraps around, is negligible.
    """
    n = int(counts.sum())
    mean = float(values @ counts) / n
    deviation = float(np.sqrt(counts @ (values - mean) ** 2))
    longest = int(values.max()) * n + 1
    around = (
        1 << int(min(longest, 2 * _MAX_DEVIATIONS * deviation + values.max() + 2) - 1).bit_length()
    )
    first = 0 if around >= longest else max(0, round(mean * n) - around // 2)
    one = np.bincount(values, weights=counts / n, minlength=1)
    shares = np.fft.irfft(np.fft.rfft(one, around) ** n, around)
    shares = np.maximum(np.roll(shares, -(first % around)), 0)
    return first, shares / shares.sum()


def _as_steps(values: Floats) -> tuple[Counts, float] | None:
    """Return values as whole steps above the smallest one, and the step; None without a step."""
    above = values - values.min()
    for parts in _STEPS:
        whole = np.round(above * parts)
        if np.abs(above * parts - whole).max() < 10**-9:
            return whole.astype(np.int64), 1 / parts
    return None


@lru_cache(maxsize=2)
def _uniform(resamples: int, seed: int) -> Floats:
    """Return uniform numbers from 0 to 1, ascending, because their order never matters."""
    return np.sort(np.random.default_rng(seed).random(resamples))


@lru_cache(maxsize=2)
def _normal(resamples: int, seed: int) -> Floats:
    """Return two rows of standard normal numbers, shape (2, resamples)."""
    return np.random.default_rng(seed).standard_normal((2, resamples))


def interval_from_draws(
    number: float, drawn: Floats, left_out: Floats, weights: Counts, level: float = LEVEL
) -> Interval:
    """Return the BCa interval from resampled numbers, or the reason if too many are undefined.

    ``left_out`` and ``weights``, shape (k,), are the jackknife's numbers and their counts;
    ``drawn`` has the resampled numbers, nan where undefined.
    """
    defined = drawn[np.isfinite(drawn)]
    if not np.isfinite(number) or len(defined) < _DEFINED * len(drawn):
        return Interval(None, None, OFTEN_UNDEFINED)
    if not np.isfinite(left_out).all():
        return Interval(None, None, LEFT_OUT_UNDEFINED)
    if np.ptp(defined) < 10**-_DIGITS:
        return Interval(None, None, NO_CHANGE_REASON)
    return _limits(float(number), defined, left_out, weights[weights > 0], level)


def _limits(
    number: float, drawn: Floats, left_out: Floats, weights: Counts, level: float
) -> Interval:
    """Return the BCa limits from resampled numbers and the jackknife's."""
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


def _jackknife_values(statistic: Statistic, observed: Counts) -> Floats:
    """Return the jackknife's numbers: without one of the values, for each distinct value."""
    present = np.flatnonzero(observed)
    rows = np.repeat(observed[np.newaxis], len(present), axis=0)
    rows[np.arange(len(present)), present] -= 1
    return _numbers(statistic, rows)


def _draws(observed: Counts, resamples: int, seed: int) -> Iterator[Counts]:
    """Yield drawn rows of counts, each with the sum n, in parts of bounded size."""
    size = max(1, _CELLS // len(observed))
    if resamples <= size:
        yield _drawn(tuple(observed.tolist()), resamples, seed)
        return
    random = np.random.default_rng(seed)
    for start in range(0, resamples, size):
        yield _rows(random, observed, min(size, resamples - start))


@lru_cache(maxsize=4)
def _drawn(observed: tuple[int, ...], resamples: int, seed: int) -> Counts:
    """Return all drawn rows at once, cached because several numbers of one table share them."""
    rows = _rows(np.random.default_rng(seed), np.array(observed), resamples)
    rows.setflags(write=False)
    return rows


def _rows(random: np.random.Generator, observed: Counts, resamples: int) -> Counts:
    rows = np.zeros((resamples, len(observed)), dtype=np.int64)
    present = observed > 0
    n = int(observed.sum())
    rows[:, present] = random.multinomial(n, observed[present] / n, size=resamples)
    return rows
