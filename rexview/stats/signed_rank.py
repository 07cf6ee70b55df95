"""Wilcoxon signed-rank tests by scipy, many at a time.

The numbers are those of ``scipy.stats.wilcoxon`` with its defaults: zero differences are left out
of the ranking; up to 50 differences without ties or zeros p is exact; up to 13 with them p comes
from all arrangements of signs, which is exact too; otherwise it is the normal approximation with
the variance corrected for ties, without a continuity correction. Three things differ from calling
it once a pair, none of them in the result: tests with the same number of cases share one call;
the arrangements of signs are tried all at once, where scipy tries them one by one (seconds for 13
differences); and pairs without any difference are left
out, where scipy gives p = 1 for few of them and nan for many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rexview.stats.bootstrap import Floats

EXACT: Final = "exact"
APPROXIMATION: Final = "approximation"
_EXACT_UP_TO: Final = 50
_ARRANGED_UP_TO: Final = 13
_AT_ONCE: Final = 1_000_000
"""So many differences (or arrangements of signs) are looked at in one call, at most: it bounds
the memory."""


@dataclass(frozen=True)
class SignedRank:
    """A two-sided test: the smaller rank sum, p, how p was found, and the rank-biserial effect."""

    statistic: float
    p: float
    method: str
    effect: float


def signed_ranks(differences: Sequence[Floats]) -> list[SignedRank | None]:
    """Test whether differences lie around zero.

    Parameters
    ----------
    differences : sequence of numpy.ndarray
        One array of shape (n,) a test, with equal differences equal to the last digit.

    Returns
    -------
    list of SignedRank or None
        In the order given; None where all differences are zero or there are none.
    """
    found: list[SignedRank | None] = [None] * len(differences)
    alike: dict[tuple[str | None, int], list[int]] = defaultdict(list)
    for place, values in enumerate(differences):
        if values.any():
            alike[_method(values), len(values)].append(place)
    for (method, n), places in alike.items():
        size = max(1, _AT_ONCE // (n if method else 2**n))
        for start in range(0, len(places), size):
            part = places[start : start + size]
            rows = np.stack([differences[place] for place in part])
            for place, test in zip(part, _tests(rows, method), strict=True):
                found[place] = test
    return found


def _method(differences: Floats) -> str | None:
    """Name the way to p that scipy's ``auto`` takes; None for all arrangements of signs."""
    if len(differences) > _EXACT_UP_TO:
        return "asymptotic"
    sizes = np.abs(differences)
    if sizes.all() and len(np.unique(sizes)) == len(sizes):
        return "exact"
    return None if len(differences) <= _ARRANGED_UP_TO else "asymptotic"


def _tests(rows: Floats, method: str | None) -> list[SignedRank]:
    """Test rows of differences, shape (tests, n), none of them all zero."""
    from scipy.stats import wilcoxon

    # the rank sums are the same whatever the way to p
    plus = wilcoxon(rows, axis=1, alternative="greater", method="asymptotic").statistic
    nonzero = (rows != 0).sum(axis=1)
    total = nonzero * (nonzero + 1) / 2
    ps = _arranged(rows) if method is None else wilcoxon(rows, axis=1, method=method).pvalue
    name = APPROXIMATION if method == "asymptotic" else EXACT
    return [
        SignedRank(float(min(up, of - up)), float(p), name, float((2 * up - of) / of))
        for up, of, p in zip(plus, total, ps, strict=True)
    ]


def _arranged(rows: Floats) -> Floats:
    """Find p from all 2**n arrangements of signs, two-sided, for rows of shape (tests, n)."""
    from scipy.stats import rankdata

    ranks = rankdata(np.where(rows == 0, np.nan, np.abs(rows)), axis=1, nan_policy="omit")
    ranks = np.where(rows == 0, 0, ranks)
    n = rows.shape[1]
    arrangements = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
    sums = arrangements @ ranks.T  # halves at most: compared without rounding errors
    plus = np.where(rows > 0, ranks, 0).sum(axis=1)
    tails: Floats = np.minimum((sums <= plus).mean(axis=0), (sums >= plus).mean(axis=0))
    return np.minimum(2 * tails, 1)
