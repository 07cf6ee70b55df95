"""Models compared case by case: Wilcoxon signed-rank, Friedman, Benjamini-Hochberg.

A pair of models is compared over the cases where both have a final score; an answer that is
scored on several returned pictures counts with its mean over them. The tests are those of scipy,
which is imported at the first comparison. p values are adjusted with scipy's
``false_discovery_control``.

The signed-rank tests give the numbers of ``scipy.stats.wilcoxon`` with its defaults:

- Zero differences are left out of the ranking.
- Up to 50 differences without ties or zeros, p is exact.
- Up to 13 differences with them, p comes from all arrangements of signs, which is exact, too.
- Otherwise p is the normal approximation with the variance corrected for ties, without a
  continuity correction.

Three things differ from one call for each pair, none of them in the result. Tests with the same
number of cases share one call. The arrangements of signs are tried all at once, where scipy tries
them one by one (seconds for 13 differences). Pairs without any difference are left out, where scipy
gives p = 1 for few of them and nan for many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
import polars as pl

from rexview.stats.bootstrap import RESAMPLES, Floats, Interval
from rexview.stats.score_finals import SCORE_ORDER, TEXT_SCORES
from rexview.stats.score_summaries import tally_values
from rexview.vocab import IMAGE_DIMENSIONS
from rexview.words import tr

EXACT_METHOD: Final = "exact"
APPROXIMATE_METHOD: Final = "approximation"
_EXACT_UP_TO: Final = 50
_ARRANGED_UP_TO: Final = 13
_AT_ONCE: Final = 1_000_000
"""Most differences (or arrangements of signs) in one call, which bounds the memory."""
NO_PAIRS: Final = tr("No case has a score for both models.")
NO_DIFFERENCE: Final = tr(
    "Both models have the same score in every case: there is nothing to rank."
)
ONE_PAIR: Final = tr("One case only: no test can tell the models apart, and there is no interval.")
FEW_MODELS: Final = tr("Friedman's test compares three models or more; fewer have scores.")
FEW_CASES: Final = tr("Fewer than two cases have a score for every model.")
ALL_TIED: Final = tr("In every case all models have the same score: there is nothing to rank.")


@dataclass(frozen=True)
class PairTest:
    """A test of two models on one dimension, over the cases where both have a final score.

    ``n_zero`` of the ``n_pairs`` cases have no difference and are left out of the ranking;
    ``left_out`` cases have a score for only one of the two models. ``mean_difference`` is model_a
    minus model_b, with its bootstrap ``interval``. ``statistic`` is the smaller of the two rank
    sums, ``p`` two-sided and ``p_adj`` adjusted within its family. ``method`` is exact or the
    normal approximation. ``effect`` is the matched-pairs rank-biserial correlation, -1 to 1,
    positive when model_a is higher. Undefined numbers are None, with the reason in ``why``.
    """

    dimension: str
    model_a: str
    model_b: str
    n_pairs: int
    statistic: float | None
    p: float | None
    p_adj: float | None
    effect: float | None
    mean_difference: float | None
    interval: Interval
    n_zero: int
    left_out: int
    method: str | None
    why: str | None


@dataclass(frozen=True)
class FriedmanTest:
    """A test of all models with scores on one dimension, over the ``n`` cases where all have one.

    ``statistic`` is Friedman's chi-squared, corrected for ties.
    """

    dimension: str
    models: tuple[str, ...]
    n: int
    statistic: float | None
    p: float | None
    why: str | None


@dataclass(frozen=True)
class ModelComparison:
    """All tests between models: over all of them, and pair by pair."""

    tests: tuple[PairTest, ...]
    friedman: tuple[FriedmanTest, ...]


def compare_all_models(
    values: Callable[[str], pl.DataFrame], models: Sequence[str], *, resamples: int = RESAMPLES
) -> ModelComparison:
    """Compare every pair of models on every dimension, and all models at once.

    ``values`` returns one final score of a dimension for each answer, with columns ``case``,
    ``model`` and ``value`` (:meth:`.Finals.by_answer`), because ranks need the
    values case by case.

    Tests are sorted by dimension, in the order of :data:`rexview.stats.SCORE_ORDER`, then by pair,
    in the order of ``models``. Text scores have a row for each pair, and their p values are
    adjusted together over all pairs and dimensions. Image scores have a row if both models have
    scores, and are a family of their own. A test without p does not count in its family. There is
    no Friedman test with fewer than three models. With 0 resamples there are no intervals.
    """
    tests: list[PairTest] = []
    friedman: list[FriedmanTest] = []
    for dimension in SCORE_ORDER:
        scores = _scores(values(dimension), models)
        scored = [bool(column.any()) for column in ~np.isnan(scores.T)]
        pairs = list(combinations(range(len(models)), 2))
        if dimension in IMAGE_DIMENSIONS:
            pairs = [(a, b) for a, b in pairs if scored[a] and scored[b]]
        tests += _pair_tests(dimension, models, scores, pairs, resamples)
        if len(models) > 2 and (dimension in TEXT_SCORES or any(scored)):
            with_scores = tuple(m for m, any_ in zip(models, scored, strict=True) if any_)
            friedman.append(_friedman(dimension, with_scores, scores[:, scored]))
    return ModelComparison(_adjust_families(tests), tuple(friedman))


def _scores(given: pl.DataFrame, models: Sequence[str]) -> Floats:
    """Return final scores as a matrix, shape (cases, models), nan where missing."""
    numbered = pl.DataFrame({"model": list(models)}, schema={"model": pl.String()})
    values = given.join(numbered.with_row_index("_model"), on="model", maintain_order="left")
    cases = values.select("case").unique(maintain_order=True).with_row_index("_case")
    placed = values.join(cases, on="case")
    scores = np.full((len(cases), len(models)), np.nan)
    rows, columns = placed["_case"].to_numpy(), placed["_model"].to_numpy()
    scores[rows, columns] = placed["value"].to_numpy()
    return scores


def _pair_tests(
    dimension: str,
    models: Sequence[str],
    scores: Floats,
    pairs: Sequence[tuple[int, int]],
    resamples: int,
) -> Iterator[PairTest]:
    """Test pairs of columns; pairs with the same number of cases are ranked in one call."""
    columns = np.ascontiguousarray(scores.T)
    given = (columns[a] - columns[b] for a, b in pairs)
    differences = [np.round(difference[~np.isnan(difference)], 12) for difference in given]
    ranked = run_signed_rank_tests(differences)
    present = ~np.isnan(columns)
    for (a, b), difference, found in zip(pairs, differences, ranked, strict=True):
        yield _pair_test(
            dimension,
            (models[a], models[b]),
            difference,
            int((present[a] ^ present[b]).sum()),
            found,
            resamples,
        )


def _pair_test(
    dimension: str,
    models: tuple[str, str],
    differences: Floats,
    left_out: int,
    found: SignedRankResult | None,
    resamples: int,
) -> PairTest:
    counted = tally_values(differences)
    interval = counted.interval(resamples)
    n = counted.n
    if n == 0:
        why: str | None = NO_PAIRS
    elif found is None:
        why = NO_DIFFERENCE
    else:
        why = ONE_PAIR if n == 1 else interval.why
    return PairTest(
        dimension=dimension,
        model_a=models[0],
        model_b=models[1],
        n_pairs=n,
        n_zero=int((differences == 0).sum()),
        left_out=left_out,
        mean_difference=counted.mean,
        interval=interval,
        statistic=found.statistic if found else None,
        p=found.p if found else None,
        p_adj=None,
        effect=found.effect if found else None,
        method=found.method if found else None,
        why=why,
    )


def _friedman(dimension: str, models: tuple[str, ...], scores: Floats) -> FriedmanTest:
    """Test all columns at once over the rows without a gap."""
    complete = np.round(scores[~np.isnan(scores).any(axis=1)], 12)
    n = len(complete) if len(models) else 0
    why = None
    if len(models) < 3:
        why = FEW_MODELS
    elif n < 2:
        why = FEW_CASES
    elif (complete == complete[:, :1]).all():
        why = ALL_TIED
    if why:
        return FriedmanTest(dimension, models, n, None, None, why)
    from scipy.stats import friedmanchisquare

    found = friedmanchisquare(*complete.T)
    return FriedmanTest(dimension, models, n, float(found.statistic), float(found.pvalue), None)


def _adjust_families(tests: Sequence[PairTest]) -> tuple[PairTest, ...]:
    """Adjust p values within each family: text scores and image scores each together."""
    adjusted = list(tests)
    for is_text in (True, False):
        family = [at for at, test in enumerate(tests) if (test.dimension in TEXT_SCORES) == is_text]
        p_values = adjust_p_values([tests[at].p for at in family])
        for at, p_adj in zip(family, p_values, strict=True):
            adjusted[at] = replace(tests[at], p_adj=p_adj)
    return tuple(adjusted)


def adjust_p_values(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the adjusted p values of one family; None stays None and does not count."""
    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    from scipy.stats import false_discovery_control

    adjusted = iter(false_discovery_control(known, method="bh").tolist())
    return [None if p is None else float(next(adjusted)) for p in p_values]


@dataclass(frozen=True)
class SignedRankResult:
    """A two-sided test: the smaller rank sum, p, the method, and the rank-biserial effect."""

    statistic: float
    p: float
    method: str
    effect: float


def run_signed_rank_tests(differences: Sequence[Floats]) -> list[SignedRankResult | None]:
    """Test whether differences are centred on zero.

    Parameters
    ----------
    differences : sequence of numpy.ndarray
        One array of shape (n,) for each test; equal differences must be equal to the last digit.

    Returns
    -------
    list of SignedRankResult or None
        In the order given; None where all differences are zero or there are none.
    """
    found: list[SignedRankResult | None] = [None] * len(differences)
    alike: dict[tuple[str | None, int], list[int]] = defaultdict(list)
    for index, values in enumerate(differences):
        if values.any():
            alike[_method(values), len(values)].append(index)
    for (method, n), indices in alike.items():
        size = max(1, _AT_ONCE // (n if method else 2**n))
        for start in range(0, len(indices), size):
            part = indices[start : start + size]
            rows = np.stack([differences[index] for index in part])
            for index, test in zip(part, _tests(rows, method), strict=True):
                found[index] = test
    return found


def _method(differences: Floats) -> str | None:
    """Return the method that scipy's ``auto`` uses; None for all arrangements of signs."""
    if len(differences) > _EXACT_UP_TO:
        return "asymptotic"
    sizes = np.abs(differences)
    if sizes.all() and len(np.unique(sizes)) == len(sizes):
        return "exact"
    return None if len(differences) <= _ARRANGED_UP_TO else "asymptotic"


def _tests(rows: Floats, method: str | None) -> list[SignedRankResult]:
    """Test rows of differences, shape (tests, n), none of them all zero."""
    from scipy.stats import wilcoxon

    # the rank sums are the same for every method
    plus = wilcoxon(rows, axis=1, alternative="greater", method="asymptotic").statistic
    nonzero = (rows != 0).sum(axis=1)
    total = nonzero * (nonzero + 1) / 2
    ps = _exact_p_values(rows) if method is None else wilcoxon(rows, axis=1, method=method).pvalue
    name = APPROXIMATE_METHOD if method == "asymptotic" else EXACT_METHOD
    return [
        SignedRankResult(float(min(up, of - up)), float(p), name, float((2 * up - of) / of))
        for up, of, p in zip(plus, total, ps, strict=True)
    ]


def _exact_p_values(rows: Floats) -> Floats:
    """Return two-sided p from all 2**n arrangements of signs, for rows of shape (tests, n)."""
    from scipy.stats import rankdata

    ranks = rankdata(np.where(rows == 0, np.nan, np.abs(rows)), axis=1, nan_policy="omit")
    ranks = np.where(rows == 0, 0, ranks)
    n = rows.shape[1]
    arrangements = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
    sums = arrangements @ ranks.T  # multiples of one half: comparisons are exact
    plus = np.where(rows > 0, ranks, 0).sum(axis=1)
    tails: Floats = np.minimum((sums <= plus).mean(axis=0), (sums >= plus).mean(axis=0))
    return np.minimum(2 * tails, 1)
