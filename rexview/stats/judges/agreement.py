"""Whether judges agree with readers: on failures, and on scores.

Definitions (docs: statistics):

- **Failures**: over the answers that the judge spoke of and of which readers say whether they show
  it (:mod:`.opinions`). Cohen's kappa, not weighted. **Precision** is the share of the answers in
  which the judge sees the failure that readers see it in, too; **recall** the share of those in
  which readers see it that the judge sees it in, too.
- **Scores**: the judge's score beside the final score of the same answer. Quadratic-weighted kappa;
  a final score of several readers lies between whole ones and is not rounded, where kappa becomes
  Lin's concordance correlation, of which it is a case.
- **Intervals** resample patients, each with all its answers (BCa, as everywhere); precision and
  recall have that of every share here.
- Below :data:`FEWEST` answers there is no number but n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.agreement import pair_tables, quadratic_kappa
from rexview.stats.bootstrap import RESAMPLES, Counts, Floats, Interval, interval, ratio_interval
from rexview.stats.failure_rates import Rate, rate, tally_patients
from rexview.stats.judges.opinions import Judge, Opinions, ReadersSay
from rexview.stats.values import finals, single_scores
from rexview.vocab import DIMENSIONS, FAILURES
from rexview.words import tr

FEWEST: Final = 10
"""So many answers at least have to be compared."""
_MOST_CELLS: Final = 5_000_000
"""Counts drawn for one interval of kappa, at most: of more than 500 kinds of patients fewer."""
_FEWEST_DRAWN: Final = 999
_NOT_COMPARED: Final = tr("No answer has both the judge's opinion and the readers'.")
_ONE_SAYS_THE_SAME: Final = tr(
    "The judge or the readers say the same of all answers: without variance kappa is undefined."
)
_NEVER: Final = {
    "precision": tr("The judge sees this failure in none of these answers."),
    "recall": tr("Readers see this failure in none of these answers."),
}


@dataclass(frozen=True)
class FailureAgreement:
    """A judge beside the readers on one failure.

    Of ``opinions`` answers the judge sees the failure in ``present``; readers say something of
    ``n`` of these answers, of ``silent`` by leaving it alone. ``both``, ``only_judge``,
    ``only_readers`` and ``neither`` add up to n. What is undefined is None, and ``why`` says why.
    """

    judge: Judge
    failure: str
    opinions: int
    present: int
    n: int
    patients: int
    silent: int
    both: int
    only_judge: int
    only_readers: int
    neither: int
    kappa: float | None
    interval: Interval
    precision: Rate
    recall: Rate
    why: str | None


@dataclass(frozen=True)
class ScoreAgreement:
    """A judge beside the readers' final scores on one dimension.

    The judge scored ``opinions`` answers, readers ``n`` of these: means, kappa, mean absolute
    difference and the share with the same score (``exact``) are over these. ``readers_qwk`` is
    that of the readers among themselves: over all pairs of scores that two of them gave one of
    these answers, ``readers_n``.
    """

    judge: Judge
    dimension: str
    opinions: int
    n: int
    patients: int
    judge_mean: float | None
    readers_mean: float | None
    qwk: float | None
    qwk_interval: Interval
    mad: float | None
    mad_interval: Interval
    exact: float | None
    exact_interval: Interval
    readers_n: int
    readers_qwk: float | None
    why: str | None


def failure_agreements(
    opinions: Opinions,
    read: ReadersSay,
    judges: Sequence[Judge] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> tuple[FailureAgreement, ...]:
    """Compare some judges with the readers, all by default, on every failure they spoke of."""
    return tuple(
        _of_failure(judge, failure, opinions, read, resamples)
        for judge in (opinions.judges if judges is None else judges)
        for failure in FAILURES
        if failure in opinions.subjects(judge, "failure")
    )


def score_agreements(
    opinions: Opinions,
    review_set: ReviewSet,
    judges: Sequence[Judge] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> tuple[ScoreAgreement, ...]:
    """Compare some judges with final scores, all by default, on every dimension they scored."""
    return tuple(
        _of_scores(judge, dimension, opinions, review_set, resamples)
        for judge in (opinions.judges if judges is None else judges)
        for dimension in DIMENSIONS
        if dimension in opinions.subjects(judge, "dimension")
    )


def too_few(n: int) -> str:
    """Say why so few answers give no number."""
    if not n:
        return _NOT_COMPARED
    return tr("Too few answers to compare: {n:,}, of at least {fewest}.").format(n=n, fewest=FEWEST)


def cohens_kappa(cells: Counts) -> Floats:
    """Work out Cohen's kappa for many tables of two by two at once.

    Parameters
    ----------
    cells : numpy.ndarray
        Shape (m, 4): both, only the judge, only the readers, neither.

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where both only ever say one and the same.
    """
    both, judge, readers, neither = np.atleast_2d(cells).astype(np.float64).T
    n = both + judge + readers + neither
    chance = (both + judge) * (both + readers) + (neither + judge) * (neither + readers)
    undefined = np.full(len(n), np.nan)
    found: Floats = np.divide(
        n * (both + neither) - chance, n**2 - chance, out=undefined, where=n**2 > chance
    )
    return found


def concordance(sums: Floats) -> Floats:
    """Work out quadratic-weighted kappa from sums over answers, for many samples at once.

    Parameters
    ----------
    sums : numpy.ndarray
        Shape (m, 5 or more): n, sum of a, sum of b, sum of a² + b², sum of (a - b)².

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where all scores are one and the same.
    """
    n, a, b, squares, apart = sums[:, :5].T
    by_chance = n * squares - 2 * a * b
    undefined = np.full(len(n), np.nan)
    ratio: Floats = np.divide(n * apart, by_chance, out=undefined, where=by_chance > 1e-9)
    return 1 - ratio


def _of_failure(
    judge: Judge, failure: str, opinions: Opinions, read: ReadersSay, resamples: int
) -> FailureAgreement:
    said = opinions.of(judge, failure=failure)
    known = read.beside(said).filter(pl.col("by_readers").is_not_null())
    by_judge, by_readers = (known[name].to_numpy() for name in ("present", "by_readers"))
    patient = known["patient"].to_numpy()
    each = np.stack(
        [
            by_judge & by_readers,
            by_judge & ~by_readers,
            ~by_judge & by_readers,
            ~by_judge & ~by_readers,
        ],
        axis=1,
    ).astype(np.int64)
    kinds, counts = _kinds(each, patient)
    total = each.sum(axis=0)
    n = len(known)
    kappa, why, limits = None, too_few(n) if n < FEWEST else None, Interval(None, None)
    shares = {
        "precision": _share(by_readers[by_judge], patient[by_judge], n, "precision", resamples),
        "recall": _share(by_judge[by_readers], patient[by_readers], n, "recall", resamples),
    }
    if why is None and any(len(np.unique(said)) < 2 for said in (by_judge, by_readers)):
        why = _ONE_SAYS_THE_SAME
    if why is None:
        from sklearn.metrics import cohen_kappa_score  # slow to import

        kappa = float(cohen_kappa_score(by_judge, by_readers))
        limits = interval(
            counts,
            lambda many: cohens_kappa(many @ kinds),
            resamples=_affordable(resamples, len(counts)),
        )
    both, only_judge, only_readers, neither = total.tolist()
    return FailureAgreement(
        judge=judge,
        failure=failure,
        opinions=len(said),
        present=int(said["present"].sum()),
        n=n,
        patients=int(counts.sum()),
        silent=int(known["silent"].sum()),
        both=both,
        only_judge=only_judge,
        only_readers=only_readers,
        neither=neither,
        kappa=kappa,
        interval=limits if why is None else Interval(None, None, why),
        **shares,
        why=why or limits.why,
    )


def _share(agreed: np.ndarray, patient: np.ndarray, n: int, what: str, resamples: int) -> Rate:
    """Return the share of some answers on which the other side agrees; none of too few."""
    if n < FEWEST or not len(agreed):
        why = _NEVER[what] if n >= FEWEST else too_few(n)
        return Rate(int(agreed.sum()), len(agreed), 0, None, Interval(None, None, why), None)
    return rate(tally_patients(agreed.astype(np.int64), patient), resamples=resamples)


def _of_scores(
    judge: Judge, dimension: str, opinions: Opinions, review_set: ReviewSet, resamples: int
) -> ScoreAgreement:
    said = opinions.of(judge, dimension=dimension)
    final = finals(review_set).by_answer(dimension)
    numbers = pl.Series("number", review_set.numbers_of(final), dtype=pl.Int64)
    both = said.join(final.with_columns(numbers), on="number", maintain_order="left")
    a, b = (both[name].cast(pl.Float64).to_numpy() for name in ("score", "value"))
    n, apart = len(a), np.abs(a - b)
    each = np.stack([np.ones(n), a, b, a**2 + b**2, apart**2, apart, apart == 0], axis=1)
    kinds, counts = _kinds(each, both["patient"].to_numpy())
    few = too_few(n) if n < FEWEST else None
    same = any(len(np.unique(scores)) < 2 for scores in (a, b))
    why = few or (_ONE_SAYS_THE_SAME if same else None)

    def mean(column: int) -> tuple[float | None, Interval]:
        if few:
            return None, Interval(None, None, few)
        around = ratio_interval(kinds[:, column], kinds[:, 0], counts, resamples=resamples)
        return float(each[:, column].mean()), around

    qwk, limits = None, Interval(None, None, why)
    if why is None:
        qwk = float(concordance(each.sum(axis=0)[np.newaxis])[0])
        drawn = _affordable(resamples, len(counts))
        limits = interval(counts, lambda many: concordance(many @ kinds), resamples=drawn)
    (mad, mad_limits), (exact, exact_limits) = mean(5), mean(6)
    readers_n, readers_qwk = _among_readers(said["number"], dimension, review_set)
    return ScoreAgreement(
        judge=judge,
        dimension=dimension,
        opinions=len(said),
        n=n,
        patients=int(counts.sum()),
        judge_mean=None if few else float(a.mean()),
        readers_mean=None if few else float(b.mean()),
        qwk=qwk,
        qwk_interval=limits,
        mad=mad,
        mad_interval=mad_limits,
        exact=exact,
        exact_interval=exact_limits,
        readers_n=readers_n,
        readers_qwk=readers_qwk,
        why=why or limits.why,
    )


def _among_readers(
    numbers: pl.Series, dimension: str, review_set: ReviewSet
) -> tuple[int, float | None]:
    """Return how many pairs of scores two readers gave some answers, and kappa over all of them."""
    scores = single_scores(review_set)
    of_answers = pl.Series(review_set.numbers_of(scores.select("case", "model")), dtype=pl.Int64)
    judged = scores.filter(of_answers.is_in(numbers.implode()))
    readers = _readers(judged)
    tables = pair_tables(judged, readers, dimensions=(dimension,))
    table = sum(tables.values(), np.zeros((5, 5), dtype=np.int64))
    n = int(table.sum())
    flat = table.ravel()
    one_score = any(np.count_nonzero(table.sum(axis=axis)) < 2 for axis in (0, 1))
    if n < FEWEST or one_score:
        return n, None
    return n, float(quadratic_kappa(flat)[0])


def _readers(scores: pl.DataFrame) -> Sequence[str]:
    return scores["reader"].unique().sort().to_list()


def _kinds(each: np.ndarray, patient: np.ndarray) -> tuple[np.ndarray, Counts]:
    """Add numbers of answers up by patient, and count patients with the same sums.

    ``each`` has shape (n, numbers); returns (k, numbers) and (k,).
    """
    if not len(each):
        return np.zeros((0, each.shape[1])), np.zeros(0, dtype=np.int64)
    _, place = np.unique(patient, return_inverse=True)
    sums = np.zeros((int(place.max()) + 1, each.shape[1]))
    np.add.at(sums, place, each)
    kinds, counts = np.unique(sums, axis=0, return_counts=True)
    return kinds, counts.astype(np.int64)


def _affordable(resamples: int, kinds: int) -> int:
    if not resamples:
        return 0
    return min(resamples, max(_FEWEST_DRAWN, _MOST_CELLS // max(kinds, 1)))
