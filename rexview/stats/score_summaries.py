"""One row for each dimension and model: n, mean, spread, interval, shares and counts.

All numbers come from the counts of the distinct values: :class:`ValueTally`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.stats.bootstrap import RESAMPLES, Counts, Floats, Interval, mean_interval
from rexview.stats.score_finals import SCORE_ORDER, Finals
from rexview.vocab import IMAGE_DIMENSIONS, SCORE_MAX
from rexview.words import tr

LOW_SCORE_LIMIT: Final = 3
"""Scores below this one are low: ``share_below_3``."""
_TOLERANCE: Final = 1e-9
NO_VALUE: Final = tr("No answer has a value.")
ONE_VALUE: Final = tr("One value only: it has no spread and no interval.")
_DIGITS: Final = 12
"""Digits to which equal values agree: (5 + 4 + 4) / 3 is one value in any order of summation."""


@dataclass(frozen=True, eq=False)
class ValueTally:
    """Distinct values, ascending, and their counts; both of shape (k,)."""

    values: Floats
    counts: Counts

    @property
    def n(self) -> int:
        """Number of values."""
        return int(self.counts.sum())

    @cached_property
    def mean(self) -> float | None:
        """Mean; None without values."""
        return float(self.values @ self.counts / self.n) if self.n else None

    @cached_property
    def sd(self) -> float | None:
        """Sample standard deviation (n - 1); None below two values."""
        if self.mean is None or self.n < 2:
            return None
        squares = float(self.counts @ (self.values - self.mean) ** 2)
        return float(np.sqrt(squares / (self.n - 1)))

    @property
    def why(self) -> str | None:
        """Reason for a missing mean or standard deviation, in plain words; None without one."""
        return {0: NO_VALUE, 1: ONE_VALUE}.get(self.n)

    def interval(self, resamples: int = RESAMPLES) -> Interval:
        """Return the bootstrap interval of the mean; empty with 0 resamples."""
        return mean_interval(self.values, self.counts, resamples=resamples)

    def share(self, among: NDArray[np.bool_]) -> float | None:
        """Return the share, 0 to 1, of the values marked in a mask of shape (k,)."""
        return int(self.counts[among].sum()) / self.n if self.n else None

    def by_value(self) -> Mapping[float, int]:
        """Return the counts by value, ascending."""
        return dict(zip(self.values.tolist(), self.counts.tolist(), strict=True))


def tally_values(values: NDArray[Any]) -> ValueTally:
    """Count the values of an array of shape (n,), none of them nan."""
    rounded = np.round(np.asarray(values, dtype=np.float64), _DIGITS) + 0.0  # no negative zero
    distinct, counts = np.unique(rounded, return_counts=True)
    return ValueTally(distinct, counts.astype(np.int64))


def tally_by_model(frame: pl.DataFrame) -> dict[str, ValueTally]:
    """Count the values of each model in a frame with columns ``model`` and ``value`` (no nulls)."""
    counted = (
        frame.group_by("model", (pl.col("value").round(_DIGITS) + 0.0).alias("value"))
        .len("n")
        .sort("model", "value")
    )
    return {
        str(model): ValueTally(rows["value"].to_numpy(), rows["n"].cast(pl.Int64).to_numpy())
        for (model,), rows in counted.group_by("model", maintain_order=True)
    }


_EMPTY_TALLY: Final = ValueTally(np.empty(0), np.empty(0, dtype=np.int64))
"""The tally without values."""


@dataclass(frozen=True, eq=False)
class ScoreTallies:
    """The counts of each final score, from which summaries are computed.

    ``values`` has the scores of each model by dimension (:data:`SCORE_ORDER` and ``gap``).
    ``answers`` counts the complete answers of each model, ``pictured`` those with a score of an
    image dimension, by dimension.
    """

    values: Mapping[str, Mapping[str, ValueTally]]
    answers: Mapping[str, int]
    pictured: Mapping[str, Mapping[str, int]]

    def of(self, dimension: str, model: str) -> ValueTally:
        """Return the tally of one dimension and model."""
        return self.values[dimension].get(model, _EMPTY_TALLY)


def tally_scores(finals: Finals) -> ScoreTallies:
    """Count the final scores of every dimension and model."""

    def different(answers: pl.DataFrame) -> dict[str, int]:
        return dict(answers.select("case", "model").unique()["model"].value_counts().iter_rows())

    return ScoreTallies(
        {name: tally_by_model(finals.of(name)) for name in (*SCORE_ORDER, "gap")},
        different(finals.answers),
        {name: different(finals.of(name)) for name in IMAGE_DIMENSIONS},
    )


@dataclass(frozen=True)
class ScoreSummary:
    """A summary of the final scores of one dimension (or Content) of one model.

    ``n`` counts answers, or returned pictures for image dimensions. ``sd`` is the sample standard
    deviation (n - 1), ``interval`` that of the mean. ``share_5`` and ``share_below_3`` are shares
    of n, 0 to 1. ``counts`` has the number of answers for each final score, ascending. Undefined
    numbers are None, with the reason in ``why``.
    """

    dimension: str
    model: str
    n: int
    mean: float | None
    sd: float | None
    interval: Interval
    share_5: float | None
    share_below_3: float | None
    counts: Mapping[float, int]
    why: str | None


@dataclass(frozen=True)
class GapSummary:
    """A summary of process minus execution over the answers of one model that have both.

    ``flagged`` answers have a gap of at least the threshold, ``share_flagged`` is their share of n.
    """

    model: str
    n: int
    mean: float | None
    interval: Interval
    share_flagged: float | None
    flagged: int
    sd: float | None
    counts: Mapping[float, int]
    why: str | None


def summarise_scores(
    given: ScoreTallies,
    models: Sequence[str],
    *,
    resamples: int = RESAMPLES,
) -> tuple[ScoreSummary, ...]:
    """Summarise the final scores of each dimension and model, in the orders given.

    There is a summary even if n is 0. Image dimensions have one only if one of the models has a
    scored picture. With 0 resamples there are no intervals.
    """
    rows = []
    for dimension in SCORE_ORDER:
        found = given.values[dimension]
        if dimension in IMAGE_DIMENSIONS and not any(model in found for model in models):
            continue
        for model in models:
            scores = given.of(dimension, model)
            interval = scores.interval(resamples)
            rows.append(
                ScoreSummary(
                    dimension,
                    model,
                    scores.n,
                    scores.mean,
                    scores.sd,
                    interval,
                    scores.share(scores.values > SCORE_MAX - _TOLERANCE),
                    scores.share(scores.values < LOW_SCORE_LIMIT - _TOLERANCE),
                    scores.by_value(),
                    scores.why or interval.why,
                )
            )
    return tuple(rows)


def summarise_gaps(
    given: ScoreTallies, models: Sequence[str], *, threshold: float, resamples: int = RESAMPLES
) -> tuple[GapSummary, ...]:
    """Summarise process minus execution of each model; gaps from ``threshold`` on are flagged."""
    return tuple(
        _summarise_gap(model, given.of("gap", model), threshold, resamples) for model in models
    )


def _summarise_gap(model: str, gaps: ValueTally, threshold: float, resamples: int) -> GapSummary:
    wide = gaps.values >= threshold - _TOLERANCE
    interval = gaps.interval(resamples)
    return GapSummary(
        model,
        gaps.n,
        gaps.mean,
        interval,
        gaps.share(wide),
        int(np.sum(gaps.counts[wide])),
        gaps.sd,
        gaps.by_value(),
        gaps.why or interval.why,
    )
