"""Krippendorff's alpha: whether all readers agree, where there are more than two.

Ordinal scores; the unit is the answer, or the picture for the image dimensions. A unit with a
single reader says nothing about agreement and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import krippendorff
import numpy as np
import polars as pl

from rexview.stats.bootstrap import RESAMPLES, Counts, Floats, Interval
from rexview.stats.units import LEVELS, interval_or_none, unit_name, units_of
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha of all readers on one dimension, ordinal.

    ``n_units`` are the answers (pictures) that at least two readers scored, ``n_readers`` the
    readers who scored any of these. ``alpha`` is None with the reason in ``why``.
    """

    dimension: str
    n_units: int
    n_readers: int
    alpha: float | None
    interval: Interval
    why: str | None


def alphas(
    marks: pl.DataFrame,
    *,
    dimensions: Sequence[str] = DIMENSIONS,
    resamples: int = RESAMPLES,
) -> tuple[Alpha, ...]:
    """Work out Krippendorff's alpha per dimension; nothing unless more than two readers scored.

    Parameters
    ----------
    marks : polars.DataFrame
        As :func:`rexview.stats.values.given_marks` gives them.
    dimensions : sequence of str
    resamples : int
        Bootstrap resamples; 0 for no intervals.
    """
    scored = marks.filter(pl.col("score").is_not_null())
    if scored["reader"].n_unique() <= 2:
        return ()
    found = []
    for dimension in dimensions:
        units = units_of(scored, dimension)
        if len(units) or dimension not in IMAGE_DIMENSIONS:
            found.append(_alpha(dimension, units, resamples))
    return tuple(found)


def ordinal_alpha(counts: Counts, patterns: Counts) -> Floats:
    """Work out ordinal alpha for many samples of units at once.

    Parameters
    ----------
    counts : numpy.ndarray
        Shape (m, k): how often each of k patterns of scores is met, in m samples.
    patterns : numpy.ndarray
        Shape (k, 5): how many readers gave each score from 1 to 5; at least two in each pattern.

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where only one score was ever given.
    """
    given = patterns.astype(np.float64)
    pairs = given[:, :, None] * given[:, None, :] - given[:, :, None] * np.eye(len(LEVELS))
    pairs /= (given.sum(axis=1) - 1)[:, None, None]
    met = (np.atleast_2d(counts) @ pairs.reshape(len(given), -1)).reshape(
        -1, len(LEVELS), len(LEVELS)
    )
    margin = met.sum(axis=2)
    middle = margin.cumsum(axis=1) - margin / 2
    distance = (middle[:, :, None] - middle[:, None, :]) ** 2
    observed = (met * distance).sum(axis=(1, 2)) * (margin.sum(axis=1) - 1)
    expected = (margin[:, :, None] * margin[:, None, :] * distance).sum(axis=(1, 2))
    undefined = np.full(len(met), np.nan)
    ratio: Floats = np.divide(observed, expected, out=undefined, where=expected > 0)
    return 1 - ratio


def _alpha(dimension: str, units: pl.DataFrame, resamples: int) -> Alpha:
    """Work out alpha on one dimension from :func:`units_of`."""
    shared = units.filter(pl.len().over("unit") > 1)
    n_units, n_readers = shared["unit"].n_unique(), shared["reader"].n_unique()
    if not n_units:
        why = f"No {unit_name(dimension, 1)} was scored by two readers."
        return Alpha(dimension, 0, 0, None, Interval(None, None, why), why)
    given = shared.group_by("unit").agg(
        ((pl.col("score") == level).sum().alias(str(level))) for level in LEVELS
    )
    levels = [str(level) for level in LEVELS]
    patterns = given.group_by(levels).len("met").sort(levels)
    by_pattern = patterns.select(levels).to_numpy().astype(np.int64)
    counts = patterns["met"].cast(pl.Int64).to_numpy()
    if shared["score"].n_unique() == 1:
        why = f"Every score given is {shared['score'][0]}: alpha is undefined."
        return Alpha(dimension, n_units, n_readers, None, Interval(None, None, why), why)
    value = krippendorff.alpha(
        value_counts=given.select(levels).to_numpy(),
        value_domain=LEVELS,
        level_of_measurement="ordinal",
    )
    around = interval_or_none(counts, lambda many: ordinal_alpha(many, by_pattern), resamples)
    return Alpha(dimension, n_units, n_readers, float(value), around, None)
