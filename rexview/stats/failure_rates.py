"""Failure rates: shares of failing answers with intervals, and models compared case by case.

Definitions (docs: statistics):

- The **rate** is a share of the answers that can be judged for a failure. Answers that cannot be
  judged do not count as right.
- Its interval is Wilson's. If cases share a patient (or, without one, a study), answers are not
  independent, so patients are resampled (BCa, as everywhere). A share of 0 or 1 does not vary when
  resampled; it has Wilson's interval with each patient counted once.
- Two models are compared over the cases in which both can be judged, by McNemar's exact test. This
  is the binomial test of the cases in which one fails and the other does not. p values are adjusted
  by Benjamini-Hochberg over all failures and pairs tested together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.stats.bootstrap import LEVEL, RESAMPLES, Counts, Interval, ratio_interval
from rexview.stats.paired_tests import adjust_p_values
from rexview.vocab import SUGGESTED_FAILURES
from rexview.words import tr

JUDGED_COLUMNS: Final = pl.Schema(
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
NOTHING_JUDGED: Final = tr("No answer can be judged for this failure.")
NOT_JUDGED: Final = tr(
    "Not judged: rules only suggest this failure, and no reader has confirmed or rejected any."
)
NO_PAIRS: Final = tr("No case can be judged for both models.")
NO_DISCORDANCE: Final = tr("There is no case in which only one model fails: nothing to test.")


@dataclass(frozen=True)
class Rate:
    """A failure rate: ``flagged`` of ``n`` judged answers, from ``clusters`` patients.

    ``share`` is 0 to 1, None without answers. ``method`` of the interval is :data:`WILSON`,
    :data:`CLUSTERS` or :data:`WILSON_CLUSTERS`.
    """

    flagged: int
    n: int
    clusters: int
    share: float | None
    interval: Interval
    method: str | None

    def not_judged(self) -> Rate:
        """Return the rate without a share, because it is unknown which answers fail."""
        return replace(self, share=None, interval=Interval(None, None, NOT_JUDGED), method=None)


@dataclass(frozen=True)
class FailureRate:
    """The rate of one failure of one model."""

    failure: str
    model: str
    rate: Rate


@dataclass(frozen=True)
class FailureTest:
    """A test of two models on one failure, over the cases in which both can be judged.

    ``only_a`` and ``only_b`` are cases in which only that model fails, ``both`` cases in which both
    fail; ``left_out`` cases can be judged for only one of the two. ``difference`` is the share of
    model_a minus that of model_b over these cases, -1 to 1. Undefined numbers are None, with the
    reason in ``why``.
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


def find_clusters(cases: pl.DataFrame) -> pl.DataFrame:
    """Return the cluster of each case: its patient, else its study.

    Columns ``case`` and ``cluster`` (Int64), with the same number for cases of one cluster.
    """
    named = pl.coalesce(
        pl.format("patient {}", "patient_id"),
        pl.format("study {}", "study_id"),
        pl.format("case {}", "id"),
    )
    return cases.select(
        case="id", cluster=named.cast(pl.Categorical()).to_physical().cast(pl.Int64)
    )


class JudgedAnswers(NamedTuple):
    """The answers of one model that can be judged for one failure; all of shape (n,).

    ``cases`` and ``patients`` are numbers; ``flagged`` is a mask.
    """

    cases: NDArray[Any]
    flagged: NDArray[np.bool_]
    patients: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PatientTally:
    """A histogram of patients by (``points``, ``answers``); all of shape (k,).

    For a rate, a flagged answer is a point. For a difference, model a's flags are points and model
    b's are subtracted. Shares and a bootstrap of patients need nothing more.
    """

    points: Counts
    answers: Counts
    patients: Counts

    @property
    def total(self) -> int:
        """Points of all patients."""
        return int(self.points @ self.patients)

    @property
    def n(self) -> int:
        """Answers of all patients."""
        return int(self.answers @ self.patients)

    @property
    def n_patients(self) -> int:
        """Number of patients."""
        return int(self.patients.sum())


@dataclass(frozen=True, eq=False)
class PairTally:
    """Counts of two models on one failure, over the cases in which both can be judged.

    ``only_a``, ``only_b``, ``both`` and ``left_out`` are as in :class:`FailureTest`;
    ``by_patient`` has the differences by patient.
    """

    only_a: int
    only_b: int
    both: int
    left_out: int
    by_patient: PatientTally


def tally_patients(points: NDArray[Any], patients: NDArray[Any]) -> PatientTally:
    """Tally patients from each answer's ``points`` and patient number, both of shape (n,)."""
    if not len(points):
        nothing = np.zeros(0, dtype=np.int64)
        return PatientTally(nothing, nothing, nothing)
    sizes = np.bincount(patients)
    met = np.flatnonzero(sizes)
    sums = np.bincount(patients, points)[met].astype(np.int64)
    sizes = sizes[met]
    lowest, base = int(sums.min()), int(sizes.max()) + 1
    kinds = (sums - lowest) * base + sizes
    if kinds.max() <= len(kinds):  # few answers a patient, the usual case: no sorting needed
        of_kind = np.bincount(kinds)
        alike, counts = np.flatnonzero(of_kind), of_kind[of_kind > 0]
    else:
        alike, counts = np.unique(kinds, return_counts=True)
    return PatientTally(alike // base + lowest, alike % base, counts.astype(np.int64))


def tally_model_pair(a: JudgedAnswers, b: JudgedAnswers) -> PairTally:
    """Count the cases in which two models can be judged for one failure."""
    a, b = _sort_by_case(a), _sort_by_case(b)
    in_a, in_b = _mask_of_shared(a.cases, b.cases), _mask_of_shared(b.cases, a.cases)
    of_a, of_b = a.flagged[in_a], b.flagged[in_b]
    return PairTally(
        only_a=int((of_a & ~of_b).sum()),
        only_b=int((of_b & ~of_a).sum()),
        both=int((of_a & of_b).sum()),
        left_out=len(a.cases) + len(b.cases) - 2 * len(of_a),
        by_patient=tally_patients(of_a.astype(np.int64) - of_b, a.patients[in_a]),
    )


def _mask_of_shared(cases: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the cases among others; a lookup table is fast, as numbers are small."""
    if np.array_equal(cases, others):
        return np.ones(len(cases), dtype=np.bool_)
    there = np.zeros(1 + max(cases.max(initial=0), others.max(initial=0)), dtype=np.bool_)
    there[others] = True
    return np.asarray(there[cases])


def _sort_by_case(given: JudgedAnswers) -> JudgedAnswers:
    """Return the answers sorted by case; those of the engine already are."""
    if (given.cases[1:] > given.cases[:-1]).all():
        return given
    order = np.argsort(given.cases)
    return JudgedAnswers(given.cases[order], given.flagged[order], given.patients[order])


def measure_rate(given: PatientTally, *, resamples: int = RESAMPLES) -> Rate:
    """Return a rate with its interval; with 0 resamples without one."""
    n, k, size = given.n, given.total, given.n_patients
    if not n:
        return Rate(0, 0, 0, None, Interval(None, None, NOTHING_JUDGED), None)
    if not resamples:
        return Rate(k, n, size, k / n, Interval(None, None), None)
    if size == n:
        return Rate(k, n, size, k / n, wilson_interval(k, n), WILSON)
    if k in (0, n):
        return Rate(k, n, size, k / n, wilson_interval(size if k else 0, size), WILSON_CLUSTERS)
    return Rate(k, n, size, k / n, _ratio_interval(given, resamples), CLUSTERS)


def measure_failure_rates(
    tallies: Mapping[tuple[str, str], PatientTally],
    models: Sequence[str],
    failures: Sequence[str],
    *,
    resamples: int = RESAMPLES,
) -> tuple[FailureRate, ...]:
    """Return the rate of each failure and model, in the order given.

    ``tallies`` are by failure and model; without a tally no answer can be judged.
    """
    return tuple(
        FailureRate(
            failure,
            model,
            measure_rate(tallies.get((failure, model), EMPTY_PATIENT_TALLY), resamples=resamples),
        )
        for failure in failures
        for model in models
    )


def compare_failures(
    tallies: Mapping[tuple[str, str, str], PairTally], *, resamples: int = RESAMPLES
) -> tuple[FailureTest, ...]:
    """Compare models on failures: ``tallies`` are by failure, model a and model b.

    The test treats cases as independent, even those of one patient; the interval of the difference
    resamples patients. p values are adjusted over all given tallies.
    """
    tests = [_test(*about, tally, resamples) for about, tally in tallies.items()]
    adjusted = adjust_p_values([test.p for test in tests])
    return tuple(replace(test, p_adj=p) for test, p in zip(tests, adjusted, strict=True))


def group_judged(
    judged: pl.DataFrame, clusters: pl.DataFrame
) -> dict[tuple[str, str], JudgedAnswers]:
    """Return the answers that can be judged, by failure and model.

    ``judged`` has the columns :data:`JUDGED_COLUMNS`; ``clusters`` comes from
    :func:`find_clusters`.
    """
    numbered = clusters.with_row_index("_case").with_columns(pl.col("_case").cast(pl.Int64))
    placed = judged.join(numbered, on="case", how="inner", maintain_order="left")
    parts = placed.partition_by("failure", "model", as_dict=True)
    return {
        (str(failure), str(model)): JudgedAnswers(
            part["_case"].to_numpy(), part["flagged"].to_numpy(), part["cluster"].to_numpy()
        )
        for (failure, model), part in parts.items()
    }


def tally_model_pairs(
    judged: Mapping[tuple[str, str], JudgedAnswers], models: Sequence[str], failures: Sequence[str]
) -> dict[tuple[str, str, str], PairTally]:
    """Count every pair of models on each failure, in the order given."""
    return {
        (failure, a, b): tally_model_pair(
            *(judged.get((failure, model), _NOT_JUDGED) for model in (a, b))
        )
        for failure in failures
        for a, b in combinations(models, 2)
    }


_NOT_JUDGED: Final = JudgedAnswers(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64)
)
_NO_PAIR: Final = tally_model_pair(_NOT_JUDGED, _NOT_JUDGED)
"""The tally of two models that cannot be compared."""
EMPTY_PATIENT_TALLY: Final = tally_patients(_NOT_JUDGED.flagged, _NOT_JUDGED.patients)


def is_frequency_known(failure: str, *, by_rule: bool, by_reader: bool) -> bool:
    """Return True if the frequency of a failure is known.

    For failures that rules only suggest, it is known once a rule found one (``by_rule``) or a
    reader confirmed or rejected one (``by_reader``).
    """
    return failure not in SUGGESTED_FAILURES or by_rule or by_reader


def clear_unknown_pairs(
    pairs: Mapping[tuple[str, str, str], PairTally], unknown: Collection[tuple[str, str]]
) -> dict[tuple[str, str, str], PairTally]:
    """Return pairs of models, with an empty tally where a failure of either is ``unknown``.

    ``pairs`` are by failure and both models, ``unknown`` by failure and model.
    """
    return {
        (failure, a, b): _NO_PAIR if (failure, a) in unknown or (failure, b) in unknown else pair
        for (failure, a, b), pair in pairs.items()
    }


def _test(failure: str, model_a: str, model_b: str, pair: PairTally, resamples: int) -> FailureTest:
    n, only_a, only_b = pair.by_patient.n, pair.only_a, pair.only_b
    difference, limits, p = None, Interval(None, None, NO_PAIRS), None
    why: str | None = NO_PAIRS
    if n:
        difference = (only_a - only_b) / n
        limits = _ratio_interval(pair.by_patient, resamples)
        why = NO_DISCORDANCE
    if only_a + only_b:
        from scipy.stats import binomtest

        p, why = float(binomtest(only_a, only_a + only_b, 0.5).pvalue), None
    return FailureTest(
        failure=failure,
        model_a=model_a,
        model_b=model_b,
        n_pairs=n,
        only_a=only_a,
        only_b=only_b,
        both=pair.both,
        left_out=pair.left_out,
        difference=difference,
        interval=limits,
        p=p,
        p_adj=None,
        why=why,
    )


def wilson_interval(k: int, n: int) -> Interval:
    """Return Wilson's interval of ``k`` of ``n``."""
    from scipy.stats import binomtest

    limits = binomtest(k, n).proportion_ci(LEVEL, method="wilson")
    return Interval(float(limits.low), float(limits.high))


def _ratio_interval(given: PatientTally, resamples: int) -> Interval:
    """Return the interval from resampled patients, each with its points and answers."""
    return ratio_interval(given.points, given.answers, given.patients, resamples=resamples)
