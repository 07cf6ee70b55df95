"""Strengths of models from pairwise preferences, by the Bradley-Terry model.

Definitions (docs: statistics):

- Model i is preferred to model j with odds exp(s_i - s_j). The **strengths** s maximise the
  likelihood and have the sum 0; a tie is half a win for each of the two.
- They exist if no group of models won, or lost, every comparison with the others (Ford 1957).
- **Intervals** and limits of ranks are percentiles over resampled cases: all comparisons of a case
  are drawn together. In each resample, a tenth of a tie is added to every pair that was ever
  compared, so that all strengths are finite.

The iteration is Newton's, with steps halved until the likelihood increases. Hunter's MM iteration
(2004, Annals of Statistics 32:384-406) takes thousands of steps where a model nearly always won.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import LEVEL, SEED, Floats, Interval
from rexview.stats.report_metrics import ModelRank, draw_counts, rank_models
from rexview.words import tr

RESAMPLES: Final = 1_999
NEVER_COMPARED: Final = tr("It was not compared with all other models, not even through others.")
NO_LIMIT: Final = tr(
    "Some models won, or lost, every comparison with the others: no finite strength."
)
ONE_CASE: Final = tr("One case only: it says nothing about how others would vary.")
_POINTS: Final = {"first": 1.0, "tie": 0.5, "second": 0.0}
"""Points of the first model in a comparison."""
_ADDED_TIE: Final = 0.1
_STEPS: Final = 100
_HALVINGS: Final = 30
_MAX_STEP: Final = 2.0
"""Longest step of a strength: far away, the likelihood has another curvature."""
_SMALLEST_STEP: Final = 1e-8
"""Step below which only rounding remains, so that equal strengths are equal."""


@dataclass(frozen=True, eq=False)
class PreferenceTally:
    """Comparisons by case: ``wins[c, i, j]`` is the number of times i was preferred to j in case c.

    ``wins`` has shape (cases, models, models); a tie is half a win for each. ``ties[i, j]`` is the
    number of ties of two models in all cases, counted for both.
    """

    wins: Floats
    ties: Floats


@dataclass(frozen=True)
class ModelStrength:
    """The strength of one model, with ``won``, ``tied`` and ``lost`` of ``n`` comparisons.

    ``strength`` is in log odds, None if it has no finite value or the model was not compared.
    ``why`` is the reason, or the reason for a missing interval.
    """

    n: int
    won: int
    tied: int
    lost: int
    strength: float | None
    interval: Interval
    rank: ModelRank | None
    why: str | None


def fit_strengths(
    given: PreferenceTally, *, resamples: int = RESAMPLES
) -> tuple[ModelStrength, ...]:
    """Return the strength of each model, in the order of the tally."""
    total = given.wins.sum(axis=0)
    compared = total + total.T
    n, tied = compared.sum(axis=1), given.ties.sum(axis=1)
    won = total.sum(axis=1) - tied / 2
    why = None
    if not _is_connected(compared):
        why = NEVER_COMPARED
    elif not _is_connected(total):
        why = NO_LIMIT
    padding = _ADDED_TIE / 2 * (compared > 0)
    drawn, found = np.empty((0, len(total))), np.zeros(len(total))
    if why != NEVER_COMPARED:
        found = _fit_tables((total if why is None else total + padding)[np.newaxis])[0]
    if resamples and why != NEVER_COMPARED and len(given.wins) > 1:
        flat = given.wins.reshape(len(given.wins), -1)
        drawn = np.concatenate(
            [
                _fit_tables((times @ flat).reshape(-1, *total.shape) + padding)
                for times in draw_counts(len(flat), resamples, SEED)
            ]
        )
    no_limits = why or (ONE_CASE if len(given.wins) == 1 else None)
    places = rank_models(found, drawn, higher_is_better=True)
    return tuple(
        ModelStrength(
            n=round(float(n[model])),
            won=round(float(won[model])),
            tied=round(float(tied[model])),
            lost=round(float(n[model] - won[model] - tied[model])),
            strength=None if why else float(found[model]),
            interval=Interval(None, None, no_limits)
            if no_limits or not len(drawn)
            else _interval(drawn[:, model]),
            rank=None if why == NEVER_COMPARED else places[model],
            why=no_limits,
        )
        for model in range(len(found))
    )


def _is_connected(wins: Floats) -> bool:
    """True if every model is reached from every other along wins."""
    from scipy.sparse.csgraph import connected_components

    parts, _ = connected_components(wins > 0, directed=True, connection="strong")
    return bool(parts == 1)


def _fit_tables(wins: Floats) -> Floats:
    """Return the strengths for each of some tables of wins, shape (m, models, models).

    In each table every model is reached from every other along wins.
    """
    won = wins.sum(axis=2)
    compared = wins + wins.transpose(0, 2, 1)
    own = np.eye(wins.shape[1], dtype=np.bool_)
    found = np.zeros(won.shape)
    likely = _log_likelihood(found, wins)
    for _ in range(_STEPS if found.size else 0):
        odds = 1 / (1 + np.exp(found[:, np.newaxis, :] - found[:, :, np.newaxis]))
        slope = won - (compared * odds).sum(axis=2)
        bend = -compared * odds * (1 - odds)
        bend[:, own] -= bend.sum(axis=2)
        # the 1 fixes the sum, which the likelihood leaves open
        step = np.linalg.solve(bend + 1, slope[:, :, np.newaxis])[:, :, 0]
        furthest = np.abs(step).max(axis=1, keepdims=True)
        step /= np.maximum(furthest / _MAX_STEP, 1)
        reached = _log_likelihood(found + step, wins)
        for _ in range(_HALVINGS):
            worse = reached < likely - _SMALLEST_STEP * np.abs(likely)
            if not worse.any():
                break
            step[worse] /= 2
            reached = _log_likelihood(found + step, wins)
        found, likely = found + step, reached
        if furthest.max() < _SMALLEST_STEP:
            break
    return found - found.mean(axis=1, keepdims=True) if found.size else found


def _log_likelihood(strength: Floats, wins: Floats) -> Floats:
    apart = strength[:, np.newaxis, :] - strength[:, :, np.newaxis]
    return -np.asarray((wins * np.logaddexp(0, apart)).sum(axis=(1, 2)))


def _interval(drawn: Floats) -> Interval:
    low, high = np.quantile(drawn, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval(float(low), float(high))


def select_comparisons(review_set: ReviewSet, answers: NDArray[np.bool_]) -> pl.DataFrame:
    """Return the comparisons whose two answers are both in a mask by answer number."""
    given = review_set.preferences
    keep = np.ones(given.height, dtype=np.bool_)
    for side in ("first", "second"):
        numbers = review_set.numbers_of(given.select("case", model=side))
        keep &= numbers >= 0
        keep[keep] = answers[numbers[keep]]
    return given.filter(pl.Series(keep, dtype=pl.Boolean))


def group_compared_answers(review_set: ReviewSet) -> dict[str, NDArray[np.int64]]:
    """Return the numbers of the answers that were compared, preferred, tied and not preferred.

    The keys are ``compared``, ``won``, ``tied`` and ``lost``. Numbers ascend; an answer may be in
    several.
    """
    given = select_comparisons(review_set, np.ones(len(review_set.newest), dtype=np.bool_))
    first, second = (
        review_set.numbers_of(given.select("case", model=side)) for side in ("first", "second")
    )
    preferred = given["preferred"].to_numpy()
    won, lost = (
        np.concatenate([first[preferred == one], second[preferred == other]])
        for one, other in (("first", "second"), ("second", "first"))
    )
    tied = np.concatenate([side[preferred == "tie"] for side in (first, second)])
    found = {"compared": np.concatenate([first, second]), "won": won, "tied": tied, "lost": lost}
    return {word: np.unique(numbers) for word, numbers in found.items()}


def tally_preferences(given: pl.DataFrame, models: Sequence[str]) -> PreferenceTally:
    """Count comparisons by case.

    ``given`` has the columns ``case``, ``first``, ``second`` and ``preferred`` of
    :data:`rexview.frames.PREFERENCES`; all its models are in ``models``.
    """
    square = (len(models), len(models))
    if given.is_empty():
        return PreferenceTally(np.zeros((0, *square)), np.zeros(square))
    places = {model: place for place, model in enumerate(models)}
    cases = np.unique(given["case"].to_numpy(), return_inverse=True)[1]
    first, second = (
        given[side].replace_strict(places, return_dtype=pl.Int64).to_numpy()
        for side in ("first", "second")
    )
    got = given["preferred"].replace_strict(_POINTS, return_dtype=pl.Float64).to_numpy()
    wins = np.zeros((int(cases.max()) + 1, *square))
    np.add.at(wins, (cases, first, second), got)
    np.add.at(wins, (cases, second, first), 1 - got)
    ties = np.zeros(square)
    np.add.at(ties, (first, second), got == _POINTS["tie"])
    return PreferenceTally(wins, ties + ties.T)
