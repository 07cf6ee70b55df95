"""The bootstrap over counts against scipy's over values, and where there is no interval."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats as scipy_stats

from rexview.stats import RESAMPLES, Interval, bootstrap, bootstrap_interval
from rexview.stats.bootstrap import mean_interval, ratio_interval
from rexview.stats.score_summaries import tally_values

SAMPLES = {
    "few": [1, 1, 2, 4, 5, 5, 5, 3],
    "two values": [5] * 17 + [4] * 3,
    "nearly perfect": [5] * 28 + [1, 4],
    "halves": [1, 1.5, 2, 2.5, 2.5, 3, 3.5, 4, 4, 4.5, 4.5, 5, 5, 5, 5] * 3,
    "thirds": [4 / 3, 5 / 3, 2, 7 / 3, 3, 13 / 3, 13 / 3, 14 / 3, 5, 5, 5, 5] * 8,
    "differences": [-2, -1, 0, 0, 0, 1, 1, 1, 2, 3, 3, 4] * 20,
    "sevenths": [number / 7 for number in (7, 9, 15, 22, 30, 31, 34, 35, 35, 35)] * 4,
}
samples = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


def mean_of(values):
    return lambda rows: rows @ values / rows.sum(axis=1)


def close(found, low, high, sample):
    """Compare limits within Monte-Carlo error.

    A 2.5 % limit of 9,999 normal draws has a standard error of 0.027 standard errors of the mean,
    the bias correction doubles what z0 adds (0.013): 0.05 for the difference of two such limits.
    Four of these, and two of the steps in which the mean of n numbers moves.
    """
    n = len(sample)
    steps = np.diff(np.unique(sample))
    slack = 0.2 * np.std(sample, ddof=1) / np.sqrt(n) + 2 * steps.min() / n
    assert found.why is None
    assert found.low == pytest.approx(low, abs=slack)
    assert found.high == pytest.approx(high, abs=slack)


@samples
def test_counts_and_sums_agree_with_scipy_on_raw_values(sample):
    reference = scipy_stats.bootstrap(
        (np.array(sample, dtype=float),),
        np.mean,
        method="BCa",
        n_resamples=RESAMPLES,
        rng=7,
    ).confidence_interval
    counted = tally_values(np.array(sample))
    by_counts = bootstrap_interval(counted.counts, mean_of(counted.values))
    by_sums = mean_interval(counted.values, counted.counts)
    for found in (by_counts, by_sums):
        close(found, reference.low, reference.high, sample)


def test_another_statistic_agrees_with_scipy():
    random = np.random.default_rng(3)
    sample = random.integers(1, 6, 60)
    counts = np.bincount(sample, minlength=6)[1:]
    squares = np.arange(1, 6) ** 2

    def spread(rows):
        n = rows.sum(axis=1)
        return rows @ squares / n - (rows @ np.arange(1, 6) / n) ** 2

    found = bootstrap_interval(counts, spread)
    reference = scipy_stats.bootstrap(
        (sample.astype(float),), np.var, method="BCa", n_resamples=RESAMPLES, rng=7
    ).confidence_interval
    assert found.low == pytest.approx(reference.low, abs=0.05)
    assert found.high == pytest.approx(reference.high, abs=0.05)


def test_the_mean_of_ones_and_zeros_is_drawn_from_a_binomial():
    """20 ones of 50: the sum of 50 draws is binomial, so every part of BCa can be written down.

    z0 comes from the share below 20 ones and half the share at 20. Without a one the mean is 19/49,
    without a zero 20/49; the jackknife's mean is 0.4, so 0.4 minus these is 0.6/49 and -0.4/49.
    """
    n, ones = 50, 20
    binomial, normal = scipy_stats.binom(n, ones / n), NormalDist()
    bias = normal.inv_cdf((binomial.cdf(ones - 1) + binomial.cdf(ones)) / 2)
    pulls = np.array([0.6] * ones + [-0.4] * (n - ones)) / (n - 1)
    acceleration = (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5)
    limits = []
    for tail in (0.025, 0.975):
        moved = bias + normal.inv_cdf(tail)
        limits.append(binomial.ppf(normal.cdf(bias + moved / (1 - acceleration * moved))) / n)
    found = mean_interval(np.array([0.0, 1.0]), np.array([n - ones, ones]))
    assert found.low == pytest.approx(limits[0], abs=1.01 / n)
    assert found.high == pytest.approx(limits[1], abs=1.01 / n)


def test_it_covers_the_true_mean_about_as_often_as_it_says():
    random = np.random.default_rng(11)
    scores, shares = np.arange(1.0, 6.0), np.array([0.05, 0.1, 0.15, 0.3, 0.4])
    truth = scores @ shares
    tries, hits = 1_000, 0
    for counts in random.multinomial(60, shares, size=tries):
        found = mean_interval(scores, counts, resamples=1_999)
        hits += found.low <= truth <= found.high
    assert 0.92 < hits / tries < 0.975  # 0.95 within four standard errors, and some small-n bias


def test_the_result_depends_on_the_seed_and_not_on_order_or_zeros():
    values, counts = np.array([1.0, 2.0, 3.0, 5.0]), np.array([4, 0, 9, 7])
    plain = mean_interval(values, counts)
    assert plain == mean_interval(values[counts > 0], counts[counts > 0])
    assert plain == mean_interval(values[::-1], counts[::-1])
    many = counts * 1_000
    assert mean_interval(values, many, seed=1) != mean_interval(values, many)


def test_many_values_are_drawn_in_parts(monkeypatch):
    values, counts = np.arange(1.0, 6.0), np.array([3, 4, 5, 6, 7])
    whole = bootstrap_interval(counts, mean_of(values))
    monkeypatch.setattr(bootstrap, "_CELLS", 5_000)
    assert bootstrap_interval(counts, mean_of(values)) == whole  # the same draws, part by part


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ([], bootstrap.NO_VALUES_REASON),
        ([0, 0], bootstrap.NO_VALUES_REASON),
        ([0, 1], bootstrap.ONE_VALUE_REASON),
        ([0, 30], bootstrap.ALL_EQUAL_REASON),
    ],
)
def test_without_variation_there_is_no_interval(counts, why):
    values = np.arange(1.0, 1.0 + len(counts))
    counts = np.array(counts, dtype=int)
    assert bootstrap_interval(counts, mean_of(values)) == Interval(None, None, why)
    assert mean_interval(values, counts) == Interval(None, None, why)


def test_a_number_that_never_changes_has_no_interval():
    constant = bootstrap_interval(np.array([3, 4]), lambda rows: np.ones(len(rows)))
    assert constant == Interval(None, None, bootstrap.NO_CHANGE_REASON)


def test_rarely_undefined_resamples_are_left_out_often_undefined_ones_are_told():
    def only_with_both(rows):
        return np.where(rows.min(axis=1) > 0, rows[:, 0] / rows.sum(axis=1), np.nan)

    # P(all of 20 draws on one side) is about 2 * 0.5**20; of 4 draws with 1 : 3 it is 0.32
    assert bootstrap_interval(np.array([10, 10]), only_with_both).why is None
    often = bootstrap_interval(np.array([1, 3]), only_with_both)
    assert often == Interval(None, None, bootstrap.OFTEN_UNDEFINED)


def test_a_number_that_needs_every_case_has_no_interval():
    counts = np.array([5, 20])  # resamples sum to 25, the jackknife's rows to 24
    found = bootstrap_interval(
        counts, lambda rows: np.where(rows.sum(axis=1) < 25, np.nan, rows[:, 0])
    )
    assert found == Interval(None, None, bootstrap.LEFT_OUT_UNDEFINED)


def test_no_resamples_no_interval_and_no_reason():
    assert bootstrap_interval(
        np.array([3, 4]), mean_of(np.array([1.0, 2.0])), resamples=0
    ) == Interval(None, None, None)


@pytest.mark.parametrize("clusters", [120, 6000])
@pytest.mark.parametrize("same_size", [False, True])
def test_the_ratio_of_many_clusters_is_that_of_resampling_them(same_size, clusters):
    """Limits are as near to those of very many resamples as those of 9,999; skewness stays."""
    random = np.random.default_rng(7)
    sizes = np.full(clusters, 5) if same_size else random.integers(1, 12, clusters)
    points = random.binomial(sizes, random.beta(8, 2, clusters))
    kinds, counts = np.unique(np.stack([points, sizes]), axis=1, return_counts=True)

    def ratios(rows):
        return (rows @ kinds[0]) / (rows @ kinds[1])

    truth, fast = (
        bootstrap_interval(counts, ratios, resamples=100_000),
        ratio_interval(*kinds, counts),
    )
    error = (truth.high - truth.low) / (2 * 1.96)
    assert fast.low == pytest.approx(truth.low, abs=0.1 * error)
    assert fast.high == pytest.approx(truth.high, abs=0.1 * error)
    assert fast != bootstrap_interval(counts, ratios)


def test_few_or_uneven_clusters_are_resampled_as_counts():
    kinds = np.array([[0, 1, 2, 3, 4, 5], [1, 1, 2, 3, 4, 9]])

    def ratios(rows):
        return (rows @ kinds[0]) / (rows @ kinds[1])

    for counts in ([3, 9, 9, 9, 9, 9], [1, 150, 1, 1, 1, 1]):
        counted = np.array(counts)
        assert ratio_interval(*kinds, counted) == bootstrap_interval(counted, ratios)
        assert ratio_interval(*kinds, counted, resamples=0) == Interval(None, None)
