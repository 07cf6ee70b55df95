"""One row for each dimension and model: n, mean, spread, interval, shares and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rexview.stats.bootstrap import RESAMPLES, Interval
from rexview.stats.tally import NOTHING, Tally, tallies
from rexview.stats.values import SCORE_ORDER, Finals
from rexview.vocab import IMAGE_DIMENSIONS, SCORE_MAX

LOW_SCORE = 3
"""Scores below this one are low: ``share_below_3``."""
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ScoreSummary:
    """Final scores of one dimension (or Content) of one model.

    ``n`` counts answers, or returned pictures for image dimensions. ``sd`` is the sample standard
    deviation (n - 1), ``interval`` that of the mean. ``share_5`` and ``share_below_3`` are shares
    of n, 0 to 1. ``counts`` has the number of answers for each final score, ascending. What is
    undefined is None, and ``why`` says in plain words why.
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
    """Process minus execution over the answers of one model that have both.

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


def summaries(
    finals: Finals,
    models: Sequence[str],
    *,
    dimensions: Sequence[str] = SCORE_ORDER,
    resamples: int = RESAMPLES,
) -> tuple[ScoreSummary, ...]:
    """Summarise the final scores of each dimension and model, in the orders given.

    There is a summary also where n is 0; image dimensions have one only when one of the models has
    a scored picture. With 0 resamples there are no intervals.
    """
    rows = []
    for dimension in dimensions:
        found = tallies(finals.of(dimension))
        if dimension in IMAGE_DIMENSIONS and not any(model in found for model in models):
            continue
        for model in models:
            scores = found.get(model, NOTHING)
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
                    scores.share(scores.values < LOW_SCORE - _TOLERANCE),
                    scores.by_value(),
                    scores.why or interval.why,
                )
            )
    return tuple(rows)


def gap_summaries(
    finals: Finals, models: Sequence[str], *, threshold: float, resamples: int = RESAMPLES
) -> tuple[GapSummary, ...]:
    """Summarise process minus execution of each model; flagged from ``threshold`` points on."""
    found = tallies(finals.of("gap"))
    return tuple(_gap(model, found.get(model, NOTHING), threshold, resamples) for model in models)


def _gap(model: str, gaps: Tally, threshold: float, resamples: int) -> GapSummary:
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
