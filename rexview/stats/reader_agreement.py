"""Agreement of readers: kappa, differences and shares for each pair, alpha for all readers.

Definitions (docs: statistics):

- The unit is the **answer**; for the image dimensions it is the **picture** that was scored. A pair
  of readers is compared over the units that both scored, so a unit with three readers counts once
  in each of their three pairs.
- **Kappa** is Cohen's with quadratic weights over the fixed scale 1 to 5, even if a level is
  unused. If a reader always gave the same score, kappa would be 0 (or 0 / 0) however close the
  readers are. Without variance it is undefined, never 0 or 1.
- **Alpha** is Krippendorff's, ordinal, over all readers, if more than two of them scored. A unit
  with a single reader has no information on agreement and is left out.
- Confidence intervals are bootstrapped over units (:mod:`rexview.stats.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import krippendorff
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.stats.bootstrap import (
    RESAMPLES,
    Counts,
    Floats,
    Interval,
    bootstrap_interval,
    make_mean_statistic,
)
from rexview.stats.score_summaries import ValueTally
from rexview.vocab import CRITERIA, DIMENSIONS, IMAGE_DIMENSIONS, SCORE_MAX, SCORE_MIN
from rexview.words import countable, noun, tr, trn

# Units of comparison: answers, and pictures for the image dimensions.

SCORE_LEVELS: Final = tuple(range(SCORE_MIN, SCORE_MAX + 1))
"""The scale of every score."""
_ANSWER: Final = ("case", "model")


def unit_noun(dimension: str) -> str:
    """Return the English noun, for counting, of the units that are scored on a dimension.

    Units are answers or pictures; for a criterion of curation they are candidate questions.
    """
    if dimension in CRITERIA:
        return countable("question")
    return countable("picture") if dimension in IMAGE_DIMENSIONS else countable("answer")


def unit_label(dimension: str, n: int = 2) -> str:
    """Return the name of a dimension's units in the form for a number."""
    return noun(n, unit_noun(dimension))


def number_units(scores: pl.DataFrame, dimension: str) -> pl.DataFrame:
    """Return the scores of one dimension with the number of their unit.

    Parameters
    ----------
    scores : polars.DataFrame
        From :func:`rexview.stats.score_finals.list_single_scores`.
    dimension : str

    Returns
    -------
    polars.DataFrame
        The scores of this dimension with ``unit`` (Int64): the same number for the same answer, or
        for the same picture for image dimensions. One row for each unit and reader.
    """
    known = scores.filter(pl.col("dimension") == dimension, pl.col("score").is_not_null())
    case, model = (
        pl.col(name).cast(pl.Categorical()).to_physical().cast(pl.Int64) for name in _ANSWER
    )
    picture = pl.col("image").fill_null(-1) + 1
    unit = case * (model.max() + 1) + model
    if dimension in IMAGE_DIMENSIONS:
        unit = unit * (picture.max() + 1) + picture
    numbered = known.with_columns(unit.alias("unit"))
    if not numbered.select("unit", "reader").is_duplicated().any():
        return numbered
    return numbered.unique(["unit", "reader"], keep="last", maintain_order=True)


def join_shared_units(units: pl.DataFrame, readers: Sequence[str]) -> pl.DataFrame:
    """Return the units that two readers both scored, from :func:`number_units`.

    The rows are the first reader's, with the second reader's score as ``score_b``.
    """
    first, second = (units.filter(pl.col("reader") == reader) for reader in readers)
    return first.join(second.select("unit", score_b="score"), on="unit", maintain_order="left")


LOW_KAPPA_LIMIT: Final = 0.4
MIN_CLOSE_SHARE: Final = 0.8
NARROW_SD_LIMIT: Final = 1.0
_K: Final = len(SCORE_LEVELS)
_ROW: Final = np.repeat(SCORE_LEVELS, _K)
_COLUMN: Final = np.tile(SCORE_LEVELS, _K)
_APART: Final = np.abs(_ROW - _COLUMN)


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """The agreement of two readers on one dimension, over the units that both scored.

    Attributes
    ----------
    dimension, reader_a, reader_b : str
    n : int
        Answers that both scored; pictures for the image dimensions.
    qwk : float or None
        Quadratic-weighted kappa.
    mad : float or None
        Mean absolute difference, points.
    exact, within_one : float or None
        Share of units with the same score, and with scores at most one point apart, 0 to 1.
    mean_a, mean_b, sd_a, sd_b : float or None
        Mean and sample standard deviation (n - 1) of each reader's scores.
    difference : float or None
        Mean of reader a's score minus reader b's, points: below 0 where a is stricter.
    qwk_interval, mad_interval, exact_interval, within_one_interval, difference_interval : Interval
    table : numpy.ndarray
        Shape (5, 5): units by score of reader a (rows, 1 to 5) and of reader b (columns).
    why : str or None
        The reason for missing numbers, in plain words.
    """

    dimension: str
    n: int
    qwk: float | None
    mad: float | None
    exact: float | None
    within_one: float | None
    mean_a: float | None
    sd_a: float | None
    mean_b: float | None
    sd_b: float | None
    reader_a: str
    reader_b: str
    qwk_interval: Interval
    mad_interval: Interval
    exact_interval: Interval
    within_one_interval: Interval
    difference: float | None
    difference_interval: Interval
    table: Counts
    why: str | None

    @property
    def lowered_by_variance(self) -> bool:
        """True if kappa is low although the readers are close, because scores hardly vary.

        The rule: kappa is below :data:`LOW_KAPPA_LIMIT`, at least :data:`MIN_CLOSE_SHARE` of the
        scores are within one point, and one reader's standard deviation is below
        :data:`NARROW_SD_LIMIT`.
        """
        if self.qwk is None or self.within_one is None or self.sd_a is None or self.sd_b is None:
            return False
        narrow = min(self.sd_a, self.sd_b) < NARROW_SD_LIMIT
        return self.qwk < LOW_KAPPA_LIMIT and self.within_one >= MIN_CLOSE_SHARE and narrow


PairTables = Mapping[tuple[str, str, str], Counts]
"""Shared units by their scores, shape (5, 5): by dimension, reader a (rows) and reader b."""


def count_pair_tables(
    scores: pl.DataFrame, readers: Sequence[str], *, dimensions: Sequence[str] = DIMENSIONS
) -> PairTables:
    """Count the units that each two readers both scored, on each dimension.

    ``scores`` come from :func:`.list_single_scores`. The order of ``readers`` decides
    which one is reader a.
    """
    return {
        (dimension, *pair): table
        for dimension in dimensions
        for pair, table in _tables(number_units(scores, dimension), readers).items()
    }


def measure_pair_agreements(
    tables: PairTables,
    readers: Sequence[str],
    *,
    dimensions: Sequence[str] = DIMENSIONS,
    resamples: int = RESAMPLES,
) -> tuple[PairAgreement, ...]:
    """Compare each two readers who share any unit, pair by pair, dimension by dimension.

    ``tables`` come from :func:`count_pair_tables` for these readers in this order. A pair that
    shares any unit has all text dimensions (n may be 0, with the reason) and the image dimensions
    that it shares. With 0 resamples there are no intervals.
    """
    return tuple(
        measure_table_agreement(dimension, a, b, tables[dimension, a, b], resamples=resamples)
        for a, b in combinations(dict.fromkeys(readers), 2)
        if any(tables[dimension, a, b].any() for dimension in dimensions)
        for dimension in dimensions
        if dimension not in IMAGE_DIMENSIONS or tables[dimension, a, b].any()
    )


def quadratic_kappa(counts: Counts) -> Floats:
    """Return quadratic-weighted kappa for many tables at once.

    Parameters
    ----------
    counts : numpy.ndarray
        Shape (m, 25): m tables of 5 by 5 counts, row by row.

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where both readers always gave the same single score.
    """
    many = np.atleast_2d(counts).astype(np.float64)  # whole numbers: exact far beyond any set
    n = many.sum(axis=1)
    sums_a, sums_b = many @ _ROW, many @ _COLUMN
    squares = many @ (_ROW**2) + many @ (_COLUMN**2)
    by_chance = n * squares - 2 * sums_a * sums_b
    observed = n * (many @ (_APART**2))
    undefined = np.full(len(many), np.nan)
    ratio: Floats = np.divide(observed, by_chance, out=undefined, where=by_chance > 0)
    return 1 - ratio


def _tables(units: pl.DataFrame, readers: Sequence[str]) -> dict[tuple[str, str], Counts]:
    """Count the shared units of each two readers by their scores, as 5 by 5 tables."""
    given: dict[str, tuple[Counts, Counts]] = {}
    parts = units.partition_by("reader", as_dict=True)
    for reader in readers:
        part = parts.get((reader,), units.clear()).sort("unit")
        given[reader] = (
            part["unit"].cast(pl.Int64).to_numpy(),
            part["score"].cast(pl.Int64).to_numpy() - SCORE_MIN,
        )
    found = {}
    for a, b in combinations(given, 2):
        _, in_a, in_b = np.intersect1d(
            given[a][0], given[b][0], assume_unique=True, return_indices=True
        )
        cells = given[a][1][in_a] * _K + given[b][1][in_b]
        found[a, b] = np.bincount(cells, minlength=_K * _K).reshape(_K, _K)
    return found


def measure_table_agreement(
    dimension: str, reader_a: str, reader_b: str, table: Counts, *, resamples: int = RESAMPLES
) -> PairAgreement:
    """Return all numbers of a pair of readers from their 5 by 5 table of counts."""
    table = np.asarray(table, dtype=np.int64)
    counts = table.ravel()
    n = int(counts.sum())
    cells = np.flatnonzero(counts)
    points = np.bincount(_ROW - _COLUMN + _K, weights=counts, minlength=2 * _K).astype(np.int64)
    present = np.flatnonzero(points)
    differences = present - _K

    def mean(values: NDArray[Any]) -> tuple[float | None, Interval]:
        """Return the mean of a value of each difference (a minus b), and its interval."""
        if not n:
            return None, Interval(None, None, _no_shared_units_reason(dimension))
        weights = values.astype(np.float64)
        around = bootstrap_interval(
            points[present], make_mean_statistic(weights), resamples=resamples
        )
        return float(points[present] @ weights / n), around

    qwk, why = _kappa_or_reason(dimension, counts)
    qwk_interval = Interval(None, None, why)
    if qwk is not None:

        def kappas(many: Counts) -> Floats:
            whole = np.zeros((len(many), _K * _K), dtype=np.int64)
            whole[:, cells] = many
            return quadratic_kappa(whole)

        qwk_interval = bootstrap_interval(counts[cells], kappas, resamples=resamples)
    if n == 1:
        why = f"{why or ''} One {unit_label(dimension, 1)}: there is no standard deviation.".strip()
    mad, mad_interval = mean(np.abs(differences))
    exact, exact_interval = mean(differences == 0)
    within_one, within_one_interval = mean(np.abs(differences) <= 1)
    difference, difference_interval = mean(differences)
    given_a, given_b = (_score_tally(table.sum(axis=axis)) for axis in (1, 0))
    return PairAgreement(
        dimension=dimension,
        n=n,
        qwk=qwk,
        mad=mad,
        exact=exact,
        within_one=within_one,
        mean_a=given_a.mean,
        mean_b=given_b.mean,
        sd_a=given_a.sd,
        sd_b=given_b.sd,
        reader_a=reader_a,
        reader_b=reader_b,
        qwk_interval=qwk_interval,
        mad_interval=mad_interval,
        exact_interval=exact_interval,
        within_one_interval=within_one_interval,
        difference=difference,
        difference_interval=difference_interval,
        table=table,
        why=why,
    )


def _kappa_or_reason(dimension: str, counts: Counts) -> tuple[float | None, str | None]:
    """Return kappa from scikit-learn, or None and the reason why it is undefined."""
    met = np.flatnonzero(counts)
    if not len(met):
        return None, _no_shared_units_reason(dimension)
    n = int(counts.sum())
    every = trn("the one {unit}", "all {n:,} {unit}", n)
    every = every.format(n=n, unit=unit_label(dimension, n))
    if len(met) == 1 and not _APART[met[0]]:
        return None, tr("Both readers gave {every} the score {row}: kappa is undefined.").format(
            every=every, row=_ROW[met[0]]
        )
    for scores in (_ROW[met], _COLUMN[met]):
        if len(set(scores.tolist())) == 1:
            who = tr("Each reader") if len(met) == 1 else tr("A reader")
            which = (
                tr("one score")
                if len(met) == 1
                else tr("the score {scores}").format(scores=scores[0])
            )
            return None, tr(
                "{who} gave {every} {which}: without variance kappa is undefined."
            ).format(who=who, every=every, which=which)
    from sklearn.metrics import cohen_kappa_score  # slow to import

    kappa = cohen_kappa_score(
        _ROW[met], _COLUMN[met], labels=SCORE_LEVELS, weights="quadratic", sample_weight=counts[met]
    )
    return float(kappa), None


def _no_shared_units_reason(dimension: str) -> str:
    return tr("No {unit_name} was scored by both readers.").format(
        unit_name=unit_label(dimension, 1)
    )


def _score_tally(counts: Counts) -> ValueTally:
    """Return one reader's scores from the counts of the five scores."""
    return ValueTally(np.asarray(SCORE_LEVELS, dtype=np.float64), counts)


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


@dataclass(frozen=True, eq=False)
class ScorePatterns:
    """The distinct combinations of scores on the units that at least two readers scored.

    ``patterns`` has shape (k, 5): the number of readers for each score from 1 to 5. ``counts`` has
    shape (k,): the number of units with the pattern. ``n_readers`` readers scored any of the units.
    """

    patterns: Counts
    counts: Counts
    n_readers: int


def count_score_patterns(
    scores: pl.DataFrame, *, dimensions: Sequence[str] = DIMENSIONS
) -> dict[str, ScorePatterns]:
    """Count the combinations of all readers' scores on each dimension.

    ``scores`` are as for :func:`count_pair_tables`. The result is empty unless more than two
    readers scored.
    """
    if scores["reader"].n_unique() <= 2:
        return {}
    found = {}
    for dimension in dimensions:
        units = number_units(scores, dimension)
        if units.is_empty() and dimension in IMAGE_DIMENSIONS:
            continue
        shared = units.filter(pl.len().over("unit") > 1)
        levels = [str(level) for level in SCORE_LEVELS]
        given = shared.group_by("unit").agg(
            ((pl.col("score") == level).sum().alias(str(level))) for level in SCORE_LEVELS
        )
        met = given.group_by(levels).len("met").sort(levels)
        found[dimension] = ScorePatterns(
            met.select(levels).to_numpy().astype(np.int64),
            met["met"].cast(pl.Int64).to_numpy(),
            shared["reader"].n_unique(),
        )
    return found


def measure_alphas(
    given: Mapping[str, ScorePatterns], *, resamples: int = RESAMPLES
) -> tuple[Alpha, ...]:
    """Return Krippendorff's alpha of each given dimension."""
    return tuple(_measure_alpha(dimension, found, resamples) for dimension, found in given.items())


def ordinal_alpha(counts: Counts, patterns: Counts) -> Floats:
    """Return ordinal alpha for many samples of units at once.

    Parameters
    ----------
    counts : numpy.ndarray
        Shape (m, k): the counts of k patterns of scores, in m samples.
    patterns : numpy.ndarray
        Shape (k, 5): the number of readers for each score from 1 to 5, at least two a pattern.

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where all scores are the same.
    """
    given = patterns.astype(np.float64)
    pairs = given[:, :, None] * given[:, None, :] - given[:, :, None] * np.eye(len(SCORE_LEVELS))
    pairs /= (given.sum(axis=1) - 1)[:, None, None]
    met = (np.atleast_2d(counts) @ pairs.reshape(len(given), -1)).reshape(
        -1, len(SCORE_LEVELS), len(SCORE_LEVELS)
    )
    margin = met.sum(axis=2)
    middle = margin.cumsum(axis=1) - margin / 2
    distance = (middle[:, :, None] - middle[:, None, :]) ** 2
    observed = (met * distance).sum(axis=(1, 2)) * (margin.sum(axis=1) - 1)
    expected = (margin[:, :, None] * margin[:, None, :] * distance).sum(axis=(1, 2))
    undefined = np.full(len(met), np.nan)
    ratio: Floats = np.divide(observed, expected, out=undefined, where=expected > 0)
    return 1 - ratio


def _measure_alpha(dimension: str, given: ScorePatterns, resamples: int) -> Alpha:
    n_units, n_readers = int(given.counts.sum()), given.n_readers
    if not n_units:
        why = tr("No {unit_name} was scored by two readers.").format(
            unit_name=unit_label(dimension, 1)
        )
        return Alpha(dimension, 0, 0, None, Interval(None, None, why), why)
    levels = np.flatnonzero(given.patterns.sum(axis=0))
    if len(levels) == 1:
        why = tr("Every score given is {levels}: alpha is undefined.").format(
            levels=SCORE_LEVELS[levels[0]]
        )
        return Alpha(dimension, n_units, n_readers, None, Interval(None, None, why), why)
    value = krippendorff.alpha(
        value_counts=np.repeat(given.patterns, given.counts, axis=0),
        value_domain=SCORE_LEVELS,
        level_of_measurement="ordinal",
    )
    around = bootstrap_interval(
        given.counts, lambda many: ordinal_alpha(many, given.patterns), resamples=resamples
    )
    return Alpha(dimension, n_units, n_readers, float(value), around, None)
