"""Correlations against scipy, their intervals against simulation, places by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rexview.stats.metric_correlation import (
    COEFFICIENT_NAMES,
    CONSTANT_REASON,
    FEW_ANSWERS_REASON,
    FEW_PATIENTS_REASON,
    PERFECT_REASON,
    correlate_columns,
    rank_differences,
)
from rexview.stats.report_metrics import summarise_values


def two(random: np.random.Generator, n: int, rho: float) -> np.ndarray:
    return random.multivariate_normal([0, 0], [[1, rho], [rho, 1]], n)


@pytest.mark.parametrize("coefficient", COEFFICIENT_NAMES)
def test_coefficients_are_scipys_over_answers_with_both(coefficient: str) -> None:
    values = np.round(two(np.random.default_rng(2), 50, 0.5), 1)  # with ties
    values = np.column_stack([values, values[:, 0] * 2])
    values[:5, 1] = np.nan
    found = correlate_columns(values, np.arange(50), coefficient)
    assert [(one.first, one.second, one.n) for one in found] == [(0, 1, 45), (0, 2, 50), (1, 2, 45)]
    oracle = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }[coefficient]
    expected = oracle(values[5:, 0], values[5:, 1]).statistic
    assert found[0].value == pytest.approx(expected)
    limits = found[0].interval
    assert limits.low is not None
    assert limits.high is not None
    assert limits.low < expected < limits.high
    assert found[1].value == pytest.approx(1)
    assert found[1].interval.why == PERFECT_REASON


@pytest.mark.parametrize("coefficient", COEFFICIENT_NAMES)
def test_intervals_cover_and_take_patients_as_one(coefficient: str) -> None:
    # the same answer three times over for each patient adds nothing: the interval must not shrink
    random = np.random.default_rng(11)
    true = {"pearson": 0.6, "spearman": 6 / np.pi * np.arcsin(0.3)}.get(
        coefficient, 2 / np.pi * np.arcsin(0.6)
    )
    rounds, covered = 25, 0
    for _ in range(rounds):
        own = two(random, 60, 0.6)
        values = np.repeat(own, 3, axis=0) + random.normal(0, 1e-6, (180, 2))
        (found,) = correlate_columns(values, np.repeat(np.arange(60), 3), coefficient)
        assert found.patients == 60
        low, high = found.interval.low, found.interval.high
        assert low is not None
        assert high is not None
        covered += low < true < high
    # of 25 rounds at a share of 0.95, fewer than 19 happen once in 5,000 times
    assert covered >= 19


def test_what_is_undefined_has_a_reason() -> None:
    values = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0], [np.nan, 4.0]])
    (found,) = correlate_columns(values, np.arange(4), "pearson")
    assert (found.value, found.interval.why) == (None, CONSTANT_REASON)
    (found,) = correlate_columns(values[2:], np.arange(2), "pearson")
    assert (found.value, found.interval.why) == (None, FEW_ANSWERS_REASON)
    varied = np.array([[1.0, 2.0], [2.0, 5.0], [3.0, 4.0], [4.0, 9.0]])
    (found,) = correlate_columns(varied, np.array([0, 0, 1, 2]), "pearson")
    assert found.value is not None
    assert found.interval.why == FEW_PATIENTS_REASON
    (found,) = correlate_columns(varied, np.arange(4), "pearson", intervals=False)
    assert (found.interval.low, found.interval.why) == (None, None)


def test_places_by_hand() -> None:
    values = np.array([[1.0, 9.0], [2.0, 9.0], [np.nan, 1.0], [3.0, 5.0]])
    found = rank_differences(values)
    # by the first metric 0, 1/2, 1; by the second the first two share 3/4, the last has 0
    assert found[0].tolist() == [0.0, 0.75, -0.75]
    assert found[1].tolist() == [0.5, 0.75, -0.25]
    assert np.isnan(found[2]).all()
    assert found[3].tolist() == [1.0, 0.0, 1.0]


def test_a_box_by_hand() -> None:
    # quartiles of 1..8 are 2.75, 4.5 and 6.25: whiskers reach at most to 11.5, 30 lies beyond
    found = summarise_values(np.array([1, 2, 3, 4, 5, 6, 7, 8.0]))
    assert found is not None
    assert (found.quarter, found.median, found.three_quarters) == (2.75, 4.5, 6.25)
    assert (found.whisker_low, found.whisker_high, found.below, found.above) == (1, 8, 0, 0)
    wide = summarise_values(np.array([1, 2, 3, 4, 5, 6, 7, 30.0]))
    assert wide is not None
    assert (wide.whisker_high, wide.highest, wide.above) == (7, 30, 1)
    assert summarise_values(np.empty(0)) is None
