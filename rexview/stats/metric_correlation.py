"""Correlation of two metrics of generated reports, over answers.

Definitions (docs: statistics):

- **Pearson** (numpy), **Spearman** and **Kendall** (tau-b; scipy) are over the answers with a value
  of both metrics. Values of a metric for which lower is better change their sign, so that a
  positive coefficient means that both metrics prefer the same reports.
- The **interval** is a delete-a-group jackknife: up to 40 random groups of whole patients (else
  studies, else cases) are left out one after another. The coefficient is on Fisher's z scale, and
  Student's t has one degree of freedom less than there are groups. It needs only the coefficients,
  so it is the same for all three, and it respects the dependence of one patient's answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.stats.bootstrap import LEVEL, SEED, Floats, Interval
from rexview.words import tr

COEFFICIENT_NAMES: Final = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
"""Names on screen of the coefficients."""
FEW_ANSWERS_REASON: Final = tr("Fewer than three answers have a value for both.")
CONSTANT_REASON: Final = tr("One of the two is constant.")
FEW_PATIENTS_REASON: Final = tr("The answers come from fewer than four patients.")
PERFECT_REASON: Final = tr("The coefficient is -1 or 1, in all or some of the answers.")
_MOST_GROUPS: Final = 40
_FEWEST_GROUPS: Final = 4
_FEWEST: Final = 3
_ONE: Final = 1 - 1e-12


@dataclass(frozen=True)
class Correlation:
    """One coefficient of two columns, by index, over ``n`` answers of ``patients`` patients.

    Undefined numbers are None, with the reason in the interval's ``why``.
    """

    first: int
    second: int
    coefficient: str
    n: int
    patients: int
    value: float | None
    interval: Interval


def correlate_columns(
    values: Floats, patients: NDArray[Any], coefficient: str, *, intervals: bool = True
) -> tuple[Correlation, ...]:
    """Correlate each two columns.

    Parameters
    ----------
    values : numpy.ndarray
        Shape (answers, columns), nan where an answer has no value; higher is better in all.
    patients : numpy.ndarray
        Shape (answers,), the number of each answer's patient.
    coefficient : str
        One of :data:`COEFFICIENT_NAMES`.
    intervals : bool
        True for intervals, which need another coefficient for each group.
    """
    return tuple(
        _correlation(values, patients, a, b, coefficient, intervals=intervals)
        for a, b in combinations(range(values.shape[1]), 2)
    )


def _correlation(
    values: Floats,
    patients: NDArray[Any],
    a: int,
    b: int,
    coefficient: str,
    *,
    intervals: bool,
) -> Correlation:
    both = np.isfinite(values[:, a]) & np.isfinite(values[:, b])
    x, y = values[both, a], values[both, b]
    met, own = np.unique(patients[both], return_inverse=True)
    of = _coefficient(coefficient)
    value, limits = None, Interval(None, None, FEW_ANSWERS_REASON)
    if len(x) >= _FEWEST:
        value, limits = of(x, y), Interval(None, None, CONSTANT_REASON)
    if value is not None:
        limits = _interval(value, x, y, own, len(met), of) if intervals else Interval(None, None)
    return Correlation(a, b, coefficient, len(x), len(met), value, limits)


def _coefficient(name: str) -> Callable[[Floats, Floats], float | None]:
    from scipy import stats

    def coefficient(x: Floats, y: Floats) -> float | None:
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            return None
        if name == "kendall":
            value = float(stats.kendalltau(x, y).statistic)
        else:
            if name == "spearman":
                x, y = stats.rankdata(x), stats.rankdata(y)
            value = float(np.corrcoef(x, y)[0, 1])  # scipy also computes p, slowly
        return value if np.isfinite(value) else None

    return coefficient


def _interval(
    value: float,
    x: Floats,
    y: Floats,
    patients: NDArray[Any],
    n_patients: int,
    of: Callable[[Floats, Floats], float | None],
) -> Interval:
    from scipy.stats import t

    groups = min(_MOST_GROUPS, n_patients)
    if groups < _FEWEST_GROUPS:
        return Interval(None, None, FEW_PATIENTS_REASON)
    shuffled = np.random.default_rng(SEED).permutation(n_patients) % groups
    group = shuffled[patients]
    left_out = [of(x[group != one], y[group != one]) for one in range(groups)]
    if abs(value) > _ONE or any(one is None or abs(one) > _ONE for one in left_out):
        constant = any(one is None for one in left_out)
        return Interval(None, None, CONSTANT_REASON if constant else PERFECT_REASON)
    z = np.arctanh(np.array(left_out, dtype=np.float64))
    error = float(np.sqrt((groups - 1) / groups * ((z - z.mean()) ** 2).sum()))
    reach = float(t.ppf((1 + LEVEL) / 2, groups - 1)) * error
    middle = np.arctanh(value)
    return Interval(float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))


def rank_differences(values: Floats) -> Floats:
    """Return each answer's place by two metrics, and the distance of the places.

    Parameters
    ----------
    values : numpy.ndarray
        Shape (answers, 2), nan where an answer has no value; higher is better in both.

    Returns
    -------
    numpy.ndarray
        Shape (answers, 3): the place by each metric from 0 (worst) to 1 (best), ties with their
        mean place, and the first minus the second; nan where a value is missing.
    """
    both = np.isfinite(values).all(axis=1)
    found = np.full((len(values), 3), np.nan)
    n = int(both.sum())
    if n > 1:
        ranks = pl.DataFrame(values[both]).select(pl.all().rank()).to_numpy()
        found[both, :2] = (ranks - 1) / (n - 1)
        found[both, 2] = found[both, 0] - found[both, 1]
    return found
