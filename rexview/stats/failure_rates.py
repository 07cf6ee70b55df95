"""How often answers fail: shares with intervals, and models compared case by case.

Definitions (docs: statistics):

- The **rate** is the share of the answers that can be judged for a failure; the others are not
  counted as right.
- Its interval is Wilson's. Where cases share a patient (or, without one, a study), answers are not
  independent: then patients are resampled (BCa, as everywhere). A share of 0 or 1 does not vary
  when resampled; it gets Wilson's interval with each patient counted once.
- Two models are compared over the cases in which both can be judged: McNemar's test, exact, which
  is the binomial test of the cases where one fails and the other does not. p values are adjusted
  by Benjamini-Hochberg over all failures and pairs tested together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.stats.bootstrap import LEVEL, RESAMPLES, Counts, Floats, Interval, interval
from rexview.stats.paired import benjamini_hochberg

JUDGED: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "failure": pl.String(),
        "flagged": pl.Boolean(),
    }
)
"""Columns of the answers that can be judged for a failure: one row each, flagged or not."""
WILSON: Final = "wilson"
CLUSTERS: Final = "cluster_bootstrap"
WILSON_CLUSTERS: Final = "wilson_clusters"
NOTHING_JUDGED: Final = "No answer can be judged for this failure."
NO_PAIRS: Final = "In no case both models can be judged."
NO_DISCORDANCE: Final = "In no case one model fails and the other does not: nothing to test."


@dataclass(frozen=True)
class Rate:
    """``flagged`` of ``n`` answers that can be judged, from ``clusters`` patients.

    ``share`` is 0 to 1, None without any; ``method`` says how the interval was made:
    :data:`WILSON`, :data:`CLUSTERS` or :data:`WILSON_CLUSTERS`.
    """

    flagged: int
    n: int
    clusters: int
    share: float | None
    interval: Interval
    method: str | None


@dataclass(frozen=True)
class FailureRate:
    """The rate of one failure of one model."""

    failure: str
    model: str
    rate: Rate


@dataclass(frozen=True)
class FailureTest:
    """Two models on one failure, over the cases in which both can be judged.

    ``only_a`` and ``only_b`` are cases in which only that model fails, ``both`` those in which both
    do; ``left_out`` cases can be judged for one of the two only. ``difference`` is the share of
    model_a minus that of model_b over these cases, -1 to 1. What is undefined is None, and ``why``
    says why.
    """

    failure: str
    model_a: str
    model_b: str
    n_pairs: int
    only_a: int
    only_b: int
    both: int
    difference: float | None
    interval: Interval
    p: float | None
    p_adj: float | None
    left_out: int
    why: str | None


def clusters_of(cases: pl.DataFrame) -> pl.DataFrame:
    """Say which cases of the table belong together: those of a patient, else of a study.

    Columns ``case`` and ``cluster`` (Int64), the same number for cases that belong together.
    """
    named = pl.coalesce(
        pl.format("patient {}", "patient_id"),
        pl.format("study {}", "study_id"),
        pl.format("case {}", "id"),
    )
    return cases.select(
        case="id", cluster=named.cast(pl.Categorical()).to_physical().cast(pl.Int64)
    )


def rate(flagged: Iterable[bool], clusters: Iterable[int], *, resamples: int = RESAMPLES) -> Rate:
    """Work out a rate with its interval; with 0 resamples without.

    ``flagged`` has one value for each answer that can be judged, ``clusters`` the patient of each.
    """
    given = np.fromiter(flagged, dtype=np.bool_)
    n, k = len(given), int(given.sum())
    if not n:
        return Rate(0, 0, 0, None, Interval(None, None, NOTHING_JUDGED), None)
    _, place = np.unique(np.fromiter(clusters, dtype=np.int64), return_inverse=True)
    size = int(place.max()) + 1
    if not resamples:
        return Rate(k, n, size, k / n, Interval(None, None), None)
    if size == n:
        return Rate(k, n, size, k / n, _wilson(k, n), WILSON)
    if k in (0, n):
        return Rate(k, n, size, k / n, _wilson(size if k else 0, size), WILSON_CLUSTERS)
    found = _ratio_interval(np.bincount(place, given), np.bincount(place), resamples)
    return Rate(k, n, size, k / n, found, CLUSTERS)


def failure_rates(
    judged: pl.DataFrame,
    clusters: pl.DataFrame,
    models: Sequence[str],
    failures: Sequence[str],
    *,
    resamples: int = RESAMPLES,
) -> tuple[FailureRate, ...]:
    """Work out the rate of each failure and model, in the order given.

    ``judged`` has the columns :data:`JUDGED`, ``clusters`` is what :func:`clusters_of` gives.
    """
    parts = _parts(judged, clusters)
    return tuple(
        FailureRate(failure, model, rate(flagged, places, resamples=resamples))
        for failure in failures
        for model in models
        for _, flagged, places in [parts.get((failure, model), _NOTHING)]
    )


def failure_tests(
    judged: pl.DataFrame,
    clusters: pl.DataFrame,
    models: Sequence[str],
    failures: Sequence[str],
    *,
    resamples: int = RESAMPLES,
) -> tuple[FailureTest, ...]:
    """Compare every pair of models on each failure, in the order given, from the same frames.

    The test takes cases as independent, also those of one patient; the interval of the difference
    resamples patients.
    """
    parts = _parts(judged, clusters)
    tests = [
        _test(
            failure,
            pair,
            parts.get((failure, pair[0]), _NOTHING),
            parts.get((failure, pair[1]), _NOTHING),
            resamples,
        )
        for failure in failures
        for pair in combinations(models, 2)
    ]
    adjusted = benjamini_hochberg([test.p for test in tests])
    return tuple(replace(test, p_adj=p) for test, p in zip(tests, adjusted, strict=True))


_Part = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]
_NOTHING: Final[_Part] = (
    np.zeros(0, dtype=np.int64),
    np.zeros(0, dtype=np.bool_),
    np.zeros(0, dtype=np.int64),
)


def _parts(judged: pl.DataFrame, clusters: pl.DataFrame) -> dict[tuple[str, str], _Part]:
    """Return case numbers, flags and patients of each failure and model."""
    numbered = clusters.with_row_index("_case").with_columns(pl.col("_case").cast(pl.Int64))
    placed = judged.join(numbered, on="case", how="inner", maintain_order="left")
    parts = placed.partition_by("failure", "model", as_dict=True)
    return {
        (str(failure), str(model)): (
            part["_case"].to_numpy(),
            part["flagged"].to_numpy(),
            part["cluster"].to_numpy(),
        )
        for (failure, model), part in parts.items()
    }


def _test(
    failure: str, models: tuple[str, str], first: _Part, second: _Part, resamples: int
) -> FailureTest:
    shared, in_a, in_b = np.intersect1d(first[0], second[0], return_indices=True)
    a, b, places = first[1][in_a], second[1][in_b], first[2][in_a]
    n, only_a, only_b = len(shared), int((a & ~b).sum()), int((b & ~a).sum())
    difference, limits, p = None, Interval(None, None, NO_PAIRS), None
    why: str | None = NO_PAIRS
    if n:
        difference = (only_a - only_b) / n
        _, place = np.unique(places, return_inverse=True)
        points = np.bincount(place, a.astype(np.int64) - b)
        limits = _ratio_interval(points, np.bincount(place), resamples)
        why = NO_DISCORDANCE
    if only_a + only_b:
        from scipy.stats import binomtest

        p, why = float(binomtest(only_a, only_a + only_b, 0.5).pvalue), None
    return FailureTest(
        failure=failure,
        model_a=models[0],
        model_b=models[1],
        n_pairs=n,
        only_a=only_a,
        only_b=only_b,
        both=int((a & b).sum()),
        left_out=len(first[0]) + len(second[0]) - 2 * n,
        difference=difference,
        interval=limits,
        p=p,
        p_adj=None,
        why=why,
    )


def _wilson(k: int, n: int) -> Interval:
    from scipy.stats import binomtest

    limits = binomtest(k, n).proportion_ci(LEVEL, method="wilson")
    return Interval(float(limits.low), float(limits.high))


def _ratio_interval(tops: NDArray[Any], bottoms: NDArray[Any], resamples: int) -> Interval:
    """Resample patients, each with its sum of points and its number of answers.

    Patients with the same two numbers are drawn as counts, as the bootstrap wants it.
    """
    pairs, counts = np.unique(
        np.stack([np.asarray(tops, dtype=np.float64), bottoms.astype(np.float64)], axis=1),
        axis=0,
        return_counts=True,
    )

    def shares(rows: Counts) -> Floats:
        found: Floats = (rows @ pairs[:, 0]) / (rows @ pairs[:, 1])
        return found

    return interval(counts, shares, resamples=resamples)
