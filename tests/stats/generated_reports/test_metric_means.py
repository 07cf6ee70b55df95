"""Means of metrics: against scipy's bootstrap, and ranks and reciprocals by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rexview.stats.bootstrap import Interval
from rexview.stats.report_metrics import (
    NO_RECIPROCAL_LIMITS,
    NO_VALUE,
    ONE_PATIENT,
    ColumnMeans,
    ModelRank,
    PatientSums,
    compute_column_means,
    invert_mean,
    rank_models,
    sum_by_patient,
)


def test_sums_by_patient_by_hand() -> None:
    values = np.array([0.5, 0.25, 1.0, 2.0])
    found = sum_by_patient(values, np.array([0, 0, 1, 0]), np.array([7, 3, 3, 7]), n_columns=3)
    assert found.sums.tolist() == [[0.25, 1.0, 0.0], [2.5, 0.0, 0.0]]
    assert found.counts.tolist() == [[1, 1, 0], [2, 0, 0]]
    assert found.n.tolist() == [3, 1, 0]
    assert found.patients.tolist() == [2, 1, 0]


def test_the_interval_is_scipys_bca_over_patients() -> None:
    random = np.random.default_rng(5)
    patients = np.repeat(np.arange(60), random.integers(1, 5, 60))
    values = random.gamma(2, 0.2, 60)[patients] + random.normal(0, 0.05, len(patients))
    given = sum_by_patient(values, np.zeros(len(values), dtype=int), patients, n_columns=1)
    found = compute_column_means(given)
    assert found.means[0] == pytest.approx(values.mean())
    expected = stats.bootstrap(
        (given.sums[:, 0], given.counts[:, 0]),
        lambda sums, counts, axis=-1: sums.sum(axis=axis) / counts.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="BCa",
        n_resamples=9_999,
        rng=np.random.default_rng(8),
    ).confidence_interval
    width = expected.high - expected.low
    assert found.intervals[0].low == pytest.approx(expected.low, abs=0.05 * width)
    assert found.intervals[0].high == pytest.approx(expected.high, abs=0.05 * width)
    alone = sum_by_patient(values, np.zeros(len(values), dtype=int), np.arange(len(values)), 1)
    narrow = compute_column_means(alone).intervals[0]
    assert narrow.low is not None
    assert narrow.high is not None
    assert narrow.high - narrow.low < width  # as if answers of one patient were independent


def test_all_columns_share_their_draws() -> None:
    random = np.random.default_rng(1)
    values = random.random(40)
    sums = np.stack([values, values + 0.5], axis=1)
    found = compute_column_means(PatientSums(sums, np.ones((40, 2), dtype=np.int64)), resamples=200)
    assert np.allclose(found.drawn[:, 1] - found.drawn[:, 0], 0.5)
    assert found.resamples == 200


def test_the_same_data_gives_the_same_interval() -> None:
    given = PatientSums(np.arange(20.0)[:, np.newaxis], np.ones((20, 1), dtype=np.int64))
    assert compute_column_means(given).intervals == compute_column_means(given).intervals


def test_without_values_there_is_a_reason() -> None:
    sums, counts = np.array([[0.5, 0.0]]), np.array([[2, 0]])
    found = compute_column_means(PatientSums(sums, counts))
    assert [limits.why for limits in found.intervals] == [ONE_PATIENT, NO_VALUE]
    assert found.means[0] == 0.25
    assert np.isnan(found.means[1])
    nothing = compute_column_means(PatientSums(np.empty((0, 2)), np.empty((0, 2), dtype=np.int64)))
    assert [limits.why for limits in nothing.intervals] == [NO_VALUE, NO_VALUE]


def test_of_many_patients_fewer_resamples_are_drawn() -> None:
    many = 30_000
    found: ColumnMeans = compute_column_means(
        PatientSums(np.ones((many, 1)), np.ones((many, 1), dtype=np.int64))
    )
    assert found.resamples == 2_000


def test_a_reciprocal_is_of_the_mean_and_its_limits() -> None:
    values = np.array([1.0, 4.0])  # mean of reciprocals 0.625, reciprocal of the mean 0.4
    assert invert_mean(float(values.mean()), Interval(2.0, 4.0)) == (0.4, Interval(0.25, 0.5))
    assert invert_mean(-1.0, Interval(-2.0, 0.5))[0] is None
    mean, limits = invert_mean(1.0, Interval(-0.5, 2.0))
    assert mean == 1.0
    assert limits.low is None
    assert limits.why == NO_RECIPROCAL_LIMITS  # the mean has one
    assert invert_mean(2.0, Interval(None, None)) == (0.5, Interval(None, None))
    assert invert_mean(None, Interval(None, None))[1].why == NO_VALUE


def test_ranks_by_hand() -> None:
    means = np.array([0.3, 0.5, np.nan, 0.3])
    none = np.empty((0, 4))
    up = rank_models(means, none, higher_is_better=True)
    assert up == (
        ModelRank(2, None, None),
        ModelRank(1, None, None),
        None,
        ModelRank(2, None, None),
    )
    down = rank_models(means, none, higher_is_better=False)
    assert down == (
        ModelRank(1, None, None),
        ModelRank(3, None, None),
        None,
        ModelRank(1, None, None),
    )


def test_limits_of_ranks_are_percentiles_of_the_resampled_ranks() -> None:
    # in 10 of 100 resamples the two change places; a third is always last
    first = np.where(np.arange(100) < 10, 0.1, 0.6)
    drawn = np.stack([first, np.full(100, 0.5), np.zeros(100)], axis=1)
    found = rank_models(np.array([0.55, 0.5, 0.0]), drawn, higher_is_better=True)
    assert found == (ModelRank(1, 1, 2), ModelRank(2, 1, 2), ModelRank(3, 3, 3))
    rare = drawn.copy()
    rare[2:, 0] = 0.6  # 2 of 100: below 2.5 per cent on that side
    assert rank_models(np.array([0.59, 0.5, 0.0]), rare, higher_is_better=True)[0] == ModelRank(
        1, 1, 1
    )
