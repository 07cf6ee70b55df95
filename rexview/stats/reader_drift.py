"""Drift of a reader's scores: blocks of days, in the order in which the scores were given.

Blocks are whole days (UTC), so that their days identify them. Consecutive days are joined until a
block has enough scores. Each block has the reader's mean. It also has the mean difference from
another reader, over the units of the block that the other scored at any time: if the answers of a
block were hard, the other reader's scores show it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

import polars as pl

from rexview.stats.bootstrap import RESAMPLES, Interval, bootstrap_interval, make_mean_statistic
from rexview.stats.reader_agreement import number_units
from rexview.words import tr

MIN_BLOCK_SCORES: Final = 10
"""Fewest scores of a block."""
MAX_BLOCKS: Final = 12
"""Approximate number of blocks at most: with many scores, blocks become larger."""


@dataclass(frozen=True)
class DriftBlock:
    """A reader's scores of some days on one dimension.

    Attributes
    ----------
    first, last : date
        Days in UTC, both included.
    n : int
        Number of scores: of answers, for image dimensions of pictures.
    mean : float
    interval : Interval
        Interval of the mean.
    shared : int
        Number of these units that the other reader scored, too.
    difference : float or None
        Mean of this reader's score minus the other's over the shared units, points.
    difference_interval : Interval
    """

    first: date
    last: date
    n: int
    mean: float
    interval: Interval
    shared: int
    difference: float | None
    difference_interval: Interval


@dataclass(frozen=True)
class ScoreDrift:
    """The blocks of one reader on one dimension, in order of time.

    ``n`` scores were given. ``undated`` of them have no date and are in no block. ``why`` is the
    reason if there are fewer than two blocks.
    """

    dimension: str
    reader: str
    other: str | None
    n: int
    undated: int
    blocks: tuple[DriftBlock, ...]
    why: str | None


def count_score_days(
    scores: pl.DataFrame, dimension: str, reader: str, other: str | None = None
) -> pl.DataFrame:
    """Count the scores of one reader on one dimension by day and by another reader's score.

    ``scores`` come from :func:`rexview.stats.score_finals.list_single_scores`.

    Returns
    -------
    polars.DataFrame
        ``day`` (Date in UTC, null when not known), ``score``, ``other`` (Int64, null where the
        other reader gave none), ``n``.
    """
    units = number_units(scores, dimension)
    scored = units.filter(pl.col("reader") == reader).select(
        "unit", pl.col("score").cast(pl.Int64), day=pl.col("created").dt.date()
    )
    others = units.filter(pl.col("reader").eq_missing(pl.lit(other))).select(
        "unit", other=pl.col("score").cast(pl.Int64)
    )
    by_day = scored.join(others, on="unit", how="left").group_by("day", "score", "other")
    return by_day.agg(n=pl.len().cast(pl.Int64))


def measure_drift(
    given: pl.DataFrame,
    dimension: str,
    reader: str,
    other: str | None = None,
    *,
    smallest: int = MIN_BLOCK_SCORES,
    resamples: int = RESAMPLES,
) -> ScoreDrift:
    """Return the scores of one reader over time, in blocks of days.

    ``given`` comes from :func:`count_score_days` for the same reader and the ``other`` reader, with
    whom the scores are compared. A block has at least ``smallest`` scores. With 0 resamples there
    are no intervals.
    """
    dated = given.filter(pl.col("day").is_not_null())
    n, n_dated = int(given["n"].sum()), int(dated["n"].sum())
    size = max(smallest, math.ceil(n_dated / MAX_BLOCKS))
    days = dated.group_by("day").agg(pl.col("n").sum()).sort("day")
    blocks = tuple(
        _block(dated.filter(pl.col("day").is_between(first, last)), first, last, resamples)
        for first, last in _block_spans(days.iter_rows(), size)
    )
    why = _missing_reason(n, days, blocks, size)
    return ScoreDrift(dimension, reader, other, n, n - n_dated, blocks, why)


def _block_spans(days: Iterable[tuple[date, int]], size: int) -> Iterator[tuple[date, date]]:
    """Join consecutive days until each block has ``size`` scores; the rest joins the last block."""
    spans: list[tuple[date, date]] = []
    first: date | None = None
    last: date | None = None
    n = 0
    for day, more in days:
        first, last, n = first or day, day, n + more
        if n >= size:
            spans.append((first, last))
            first, n = None, 0
    if first is not None and last is not None:
        spans.append((spans.pop()[0] if spans else first, last))
    yield from spans


def _block(given: pl.DataFrame, first: date, last: date, resamples: int) -> DriftBlock:
    n, mean, around = _mean(given, pl.col("score"), resamples)
    shared, difference, around_difference = _mean(
        given, pl.col("score") - pl.col("other"), resamples
    )
    return DriftBlock(
        first=first,
        last=last,
        n=n,
        mean=mean if mean is not None else math.nan,
        interval=around,
        shared=shared,
        difference=difference,
        difference_interval=around_difference,
    )


def _mean(
    given: pl.DataFrame, number: pl.Expr, resamples: int
) -> tuple[int, float | None, Interval]:
    """Return the count of a number that is not null, its mean and the mean's interval."""
    found = given.group_by(number.alias("value")).agg(pl.col("n").sum()).drop_nulls().sort("value")
    if found.is_empty():
        return 0, None, Interval(None, None, tr("No answer here was scored by both readers."))
    values, counts = found["value"].to_numpy(), found["n"].to_numpy()
    around = bootstrap_interval(counts, make_mean_statistic(values), resamples=resamples)
    return int(counts.sum()), float(counts @ values / counts.sum()), around


def _missing_reason(
    n: int, days: pl.DataFrame, blocks: tuple[DriftBlock, ...], size: int
) -> str | None:
    """Return the reason why there are fewer than two blocks, else None."""
    if len(blocks) > 1:
        return None
    if not n:
        return tr("There are no scores.")
    if days.is_empty():
        return tr("No score has a date.")
    if len(days) == 1:
        return tr("All scores with a date were given on one day: there is no before and after.")
    return tr("There are too few scores for two blocks of at least {size}.").format(size=size)
