"""Strengths against the closed form, against logistic regression, and in their odd cases."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rexview.stats.preferences import (
    NEVER_COMPARED,
    NO_LIMIT,
    ONE_CASE,
    PreferenceTally,
    fit_strengths,
)
from rexview.stats.report_metrics import ModelRank


def tally(n_models: int, games: list[tuple[int, int, float]]) -> PreferenceTally:
    """One case a game: two models and what the first got, 1, 0.5 or 0."""
    wins = np.zeros((len(games), n_models, n_models))
    ties = np.zeros((n_models, n_models))
    for case, (a, b, got) in enumerate(games):
        wins[case, a, b], wins[case, b, a] = got, 1 - got
        if got == 0.5:
            ties[a, b] += 1
            ties[b, a] += 1
    return PreferenceTally(wins, ties)


def test_two_models_by_hand() -> None:
    # 6 won, 2 tied, 2 lost: 7 of 10, log odds 0.8473, half of it to each side of 0
    games = [(0, 1, 1.0)] * 6 + [(0, 1, 0.5)] * 2 + [(0, 1, 0.0)] * 2
    first, second = fit_strengths(tally(2, games))
    assert (first.n, first.won, first.tied, first.lost) == (10, 6, 2, 2)
    assert (second.won, second.lost) == (2, 6)
    assert first.strength == pytest.approx(np.log(7 / 3) / 2)
    assert second.strength == pytest.approx(-np.log(7 / 3) / 2)
    assert first.interval.low is not None
    assert first.interval.high is not None
    assert first.interval.low < np.log(7 / 3) / 2 < first.interval.high
    assert first.rank == ModelRank(1, 1, 2)
    assert second.rank == ModelRank(2, 1, 2)


def test_four_models_as_logistic_regression_has_them() -> None:
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(3)
    true = np.array([0.9, 0.3, -0.2, -1.0])
    games = [
        (a, b, float(random.random() < 1 / (1 + np.exp(true[b] - true[a]))))
        for _ in range(80)
        for a, b in combinations(range(4), 2)
    ]
    found = fit_strengths(tally(4, games))
    design = np.zeros((len(games), 4))
    for row, (a, b, _) in enumerate(games):
        design[row, a], design[row, b] = 1, -1
    fitted = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000)
    fitted.fit(design[:, 1:], [got for _, _, got in games])
    expected = np.concatenate([[0.0], fitted.coef_[0]])
    expected -= expected.mean()
    assert [one.strength for one in found] == pytest.approx(expected.tolist(), abs=1e-4)
    assert [one.rank.place for one in found if one.rank] == [1, 2, 3, 4]
    for one, value in zip(found, true, strict=True):
        assert one.interval.low is not None
        assert one.interval.high is not None
        assert one.interval.low < value < one.interval.high


def test_who_won_everything_has_a_place_and_no_strength() -> None:
    games = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (1, 2, 0.0)]
    found = fit_strengths(tally(3, games))
    assert [one.why for one in found] == [NO_LIMIT] * 3
    assert [one.strength for one in found] == [None] * 3
    assert found[0].rank is not None
    assert found[0].rank.place == 1


def test_models_that_never_met_are_not_ranked() -> None:
    games = [(0, 1, 1.0), (0, 1, 0.0), (2, 3, 1.0), (2, 3, 0.0)]
    found = fit_strengths(tally(4, games))
    assert [one.why for one in found] == [NEVER_COMPARED] * 4
    assert [one.rank for one in found] == [None] * 4


def test_comparisons_of_a_case_are_drawn_together() -> None:
    games = [(0, 1, 1.0)] * 14 + [(0, 1, 0.0)] * 6
    apart = fit_strengths(tally(2, games))[0].interval
    together = tally(2, games)
    by_case = together.wins.reshape(4, 5, 2, 2).sum(axis=1)  # 5 alike in each of four cases
    few = fit_strengths(PreferenceTally(by_case, together.ties))[0].interval
    assert None not in (apart.low, apart.high, few.low, few.high)
    assert few.high - few.low > apart.high - apart.low  # type: ignore[operator]


def test_equal_models_share_a_place_and_nearly_unbeaten_ones_are_fitted() -> None:
    games = [(0, 1, 1.0), (0, 1, 1.0), (0, 1, 0.0), (0, 1, 0.5), (1, 2, 1.0), (1, 2, 0.0)]
    found = fit_strengths(tally(3, games), resamples=0)
    assert [one.rank.place for one in found if one.rank] == [1, 2, 2]
    chain = [game for a in range(9) for game in [(a, a + 1, 1.0)] * 30 + [(a, a + 1, 0.0)]]
    values = [one.strength or 0.0 for one in fit_strengths(tally(10, chain), resamples=0)]
    assert np.diff(values) == pytest.approx(np.full(9, -np.log(30)))


def test_one_case_says_why_it_has_no_limits() -> None:
    wins = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    for one in fit_strengths(PreferenceTally(wins, np.zeros((2, 2)))):
        assert (one.strength, one.interval.low) == (0.0, None)
        assert one.why == one.interval.why == ONE_CASE
