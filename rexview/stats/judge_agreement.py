"""Opinions of judges, which are models that evaluate answers, and their agreement with readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import (
    RESAMPLES,
    Counts,
    Floats,
    Interval,
    bootstrap_interval,
    ratio_interval,
)
from rexview.stats.failure_rates import Rate, find_clusters, measure_rate, tally_patients
from rexview.stats.reader_agreement import count_pair_tables, quadratic_kappa
from rexview.stats.score_finals import list_complete_answers, list_single_scores, load_finals
from rexview.vocab import DIMENSIONS, FAILURES
from rexview.words import tr

# Judges' opinions of the newest answers of a set, and the readers' view of the same.
#
# Definitions (docs: statistics):
#
# - A **judge** is a model with one prompt: the same model with another prompt is another judge.
# - Of several opinions of a judge on the same subject of an answer, the newest counts. Opinions on
#   an earlier text of the answer count nowhere and are left out. So are scores of missing or
#   incomplete answers, as for readers.
# - By the **readers**, an answer has a failure if one of them confirmed it, and does not if all who
#   gave a verdict rejected it. Without any verdict, it does not if a reader who marks failures in
#   this set has finished scoring the answer: they could mark the failure and did not
#   (:data:`MARKABLE_FAILURES`). Otherwise it is unknown, and the answer is compared with nothing.

MARKABLE_FAILURES: Final = tuple(
    failure
    for failure in FAILURES
    if failure
    not in {
        *("boxes_missing", "box_misplaced", "box_unrelated", "failed_extraction"),
        *("wrong_explanation", "disagreement"),
    }
)
"""Failures that a reader can mark on every answer; for others, no mark is no verdict."""
_OPINION: Final = ("number", "judge", "prompt_id", "failure", "dimension")


@dataclass(frozen=True, order=True)
class Judge:
    """A judge: the id of a model, and of its prompt."""

    model: str
    prompt_id: str

    @property
    def name(self) -> str:
        """Name on screen."""
        return f"{self.model} ({self.prompt_id})"


@dataclass(frozen=True, eq=False)
class JudgeOpinions:
    """Judges' opinions of the newest answers of a set, by the answers' numbers.

    Attributes
    ----------
    rows : polars.DataFrame
        One row for each opinion: ``number`` and ``patient`` (Int64), ``judge``, ``prompt_id``,
        ``failure`` with ``present``, or ``dimension`` with ``score``.
    judges : tuple of Judge
        From :func:`list_judges`.
    stale : mapping of Judge to int
        Number of opinions on earlier texts of answers, by judge.
    wordings : mapping of Judge to int
        Number of versions of each judge's prompt, which may change under one name.
    """

    rows: pl.DataFrame
    judges: tuple[Judge, ...]
    stale: dict[Judge, int]
    wordings: dict[Judge, int]

    def of(self, judge: Judge, **about: str) -> pl.DataFrame:
        """Return the opinions of one judge on a ``failure`` or a ``dimension``."""
        named = {"judge": judge.model, "prompt_id": judge.prompt_id, **about}
        return self.rows.filter(**named)

    def subjects(self, judge: Judge, column: str) -> tuple[str, ...]:
        """Return the failures, or dimensions, of a judge's opinions."""
        return tuple(self.of(judge)[column].drop_nulls().unique())


def list_judges(review_set: ReviewSet) -> tuple[Judge, ...]:
    """Return all judges with any opinion, even on earlier texts of answers, the newest first."""
    columns = ("judge", "prompt_id", "created")
    given = pl.concat([review_set.opinions[columns], review_set.stale_opinions[columns]])
    newest = given.group_by("judge", "prompt_id").agg(pl.col("created").max())
    ordered = newest.sort("judge", "prompt_id").sort(
        "created", descending=True, nulls_last=True, maintain_order=True
    )
    return tuple(Judge(model, prompt) for model, prompt, _ in ordered.iter_rows())


def collect_judge_opinions(
    review_set: ReviewSet, patients: NDArray[np.int64] | None = None
) -> JudgeOpinions:
    """Return the opinions on the newest answers.

    ``patients`` has the patient numbers by row of the cases, if they are already known.
    """
    given = review_set.opinions
    if patients is None:
        patients = find_clusters(review_set.cases)["cluster"].to_numpy()
    numbers = review_set.numbers_of(given.select("case", "model"))
    known = given.with_columns(
        pl.col("failure", "dimension").cast(pl.String),
        pl.col("score").cast(pl.Int64),
        number=pl.Series(numbers, dtype=pl.Int64),
    ).filter(pl.col("number") >= 0, pl.any_horizontal(pl.col("present", "score").is_not_null()))
    whole = pl.Series(
        review_set.numbers_of(list_complete_answers(review_set.answers)), dtype=pl.Int64
    )
    known = known.filter(pl.col("dimension").is_null() | pl.col("number").is_in(whole.implode()))
    rows = (
        known.sort("created", nulls_last=False, maintain_order=True)
        .unique(_OPINION, keep="last", maintain_order=True)
        .sort("number", maintain_order=True)
    )
    of_case = review_set.newest.case[rows["number"].to_numpy()] if len(rows) else []
    texts = known.group_by("judge", "prompt_id").agg(pl.col("prompt_hash").drop_nulls().n_unique())
    stale = review_set.stale_opinions.group_by("judge", "prompt_id").len()
    return JudgeOpinions(
        rows.select(
            *("number", "judge", "prompt_id", "failure", "present", "dimension", "score"),
            pl.Series("patient", patients[of_case] if len(rows) else [], dtype=pl.Int64),
        ),
        list_judges(review_set),
        {Judge(model, prompt): n for model, prompt, n in stale.iter_rows()},
        {Judge(model, prompt): n for model, prompt, n in texts.iter_rows()},
    )


@dataclass(frozen=True, eq=False)
class ReaderVerdicts:
    """The readers' view of failures.

    ``spoken`` has ``number``, ``failure`` and ``by_readers`` (whether the answer has it) for each
    verdict. ``finished`` has the numbers of the answers that were scored by a reader who marks
    failures.
    """

    spoken: pl.DataFrame
    finished: pl.Series

    def beside(self, opinions: pl.DataFrame) -> pl.DataFrame:
        """Add ``by_readers`` (null if unknown) and ``silent`` (known only from a missing mark)."""
        found = opinions.join(
            self.spoken, on=["number", "failure"], how="left", maintain_order="left"
        )
        silent = (
            pl.col("by_readers").is_null()
            & pl.col("number").is_in(self.finished.implode())
            & pl.col("failure").is_in(MARKABLE_FAILURES)
        )
        left = pl.when(silent).then(pl.lit(value=False)).otherwise("by_readers")
        return found.with_columns(silent=silent, by_readers=left)


def collect_reader_verdicts(review_set: ReviewSet, verdicts: pl.DataFrame) -> ReaderVerdicts:
    """Return the readers' view of failures.

    ``verdicts`` has the newest verdicts of each reader: ``answer`` (its number), ``failure``,
    ``reader`` and ``verdict``.
    """
    spoken = verdicts.group_by(number=pl.col("answer").cast(pl.Int64), failure="failure").agg(
        by_readers=(pl.col("verdict") == "confirmed").any()
    )
    scores = list_single_scores(review_set).filter(
        pl.col("score").is_not_null(),
        pl.col("reader").is_in(verdicts["reader"].unique().implode()),
    )
    answers = scores.select("case", "model").unique()
    numbers = pl.Series("number", review_set.numbers_of(answers), dtype=pl.Int64)
    return ReaderVerdicts(spoken, numbers)


MIN_COMPARED_ANSWERS: Final = 10
"""Fewest answers for a comparison."""
_MOST_CELLS: Final = 5_000_000
"""Most counts drawn for one interval of kappa; more than 500 kinds of patients have fewer draws."""
_FEWEST_DRAWN: Final = 999
_NOT_COMPARED: Final = tr("No answer has both the judge's opinion and the readers'.")
_ONE_SAYS_THE_SAME: Final = tr(
    "The judge or the readers give the same opinion on all answers: without variance kappa "
    "is undefined."
)
_NEVER: Final = {
    "precision": tr("The judge sees this failure in none of these answers."),
    "recall": tr("Readers see this failure in none of these answers."),
}


@dataclass(frozen=True)
class FailureAgreement:
    """A judge compared with the readers on one failure.

    The judge finds the failure in ``present`` of ``opinions`` answers. The readers' view is known
    for ``n`` of these answers, for ``silent`` of them from the absence of a mark. ``both``,
    ``only_judge``, ``only_readers`` and ``neither`` add up to n. Undefined numbers are None, with
    the reason in ``why``.
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
    """A judge compared with the readers' final scores on one dimension.

    The judge scored ``opinions`` answers, readers ``n`` of these. Means, kappa, mean absolute
    difference and the share with the same score (``exact``) are over these n. ``readers_qwk`` is
    kappa between readers: over the ``readers_n`` pairs of scores that two readers gave one of these
    answers.
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


def measure_failure_agreements(
    opinions: JudgeOpinions,
    read: ReaderVerdicts,
    judges: Sequence[Judge] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> tuple[FailureAgreement, ...]:
    """Compare judges, by default all, with the readers, on every failure of their opinions."""
    return tuple(
        _measure_failure(judge, failure, opinions, read, resamples)
        for judge in (opinions.judges if judges is None else judges)
        for failure in FAILURES
        if failure in opinions.subjects(judge, "failure")
    )


def measure_score_agreements(
    opinions: JudgeOpinions,
    review_set: ReviewSet,
    judges: Sequence[Judge] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> tuple[ScoreAgreement, ...]:
    """Compare judges, by default all, with final scores, on every dimension they scored."""
    return tuple(
        _measure_scores(judge, dimension, opinions, review_set, resamples)
        for judge in (opinions.judges if judges is None else judges)
        for dimension in DIMENSIONS
        if dimension in opinions.subjects(judge, "dimension")
    )


def too_few_reason(n: int) -> str:
    """Return the reason why ``n`` answers are too few for a number."""
    if not n:
        return _NOT_COMPARED
    return tr("Too few answers to compare: {n:,}, of at least {fewest}.").format(
        n=n, fewest=MIN_COMPARED_ANSWERS
    )


def cohens_kappa(cells: Counts) -> Floats:
    """Return Cohen's kappa for many two by two tables at once.

    Parameters
    ----------
    cells : numpy.ndarray
        Shape (m, 4): both, only the judge, only the readers, neither.

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where both always give the same single verdict.
    """
    both, judge, readers, neither = np.atleast_2d(cells).astype(np.float64).T
    n = both + judge + readers + neither
    chance = (both + judge) * (both + readers) + (neither + judge) * (neither + readers)
    undefined = np.full(len(n), np.nan)
    found: Floats = np.divide(
        n * (both + neither) - chance, n**2 - chance, out=undefined, where=n**2 > chance
    )
    return found


def quadratic_kappa_of_sums(sums: Floats) -> Floats:
    """Return quadratic-weighted kappa from sums over answers, for many samples at once.

    Parameters
    ----------
    sums : numpy.ndarray
        Shape (m, 5 or more): n, sum of a, sum of b, sum of a² + b², sum of (a - b)².

    Returns
    -------
    numpy.ndarray
        Shape (m,); NaN where all scores are the same.
    """
    n, a, b, squares, apart = sums[:, :5].T
    by_chance = n * squares - 2 * a * b
    undefined = np.full(len(n), np.nan)
    ratio: Floats = np.divide(n * apart, by_chance, out=undefined, where=by_chance > 1e-9)
    return 1 - ratio


def _measure_failure(
    judge: Judge, failure: str, opinions: JudgeOpinions, read: ReaderVerdicts, resamples: int
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
    kinds, counts = _group_patients(each, patient)
    total = each.sum(axis=0)
    n = len(known)
    kappa, why, limits = (
        None,
        too_few_reason(n) if n < MIN_COMPARED_ANSWERS else None,
        Interval(None, None),
    )
    shares = {
        "precision": _share(by_readers[by_judge], patient[by_judge], n, "precision", resamples),
        "recall": _share(by_judge[by_readers], patient[by_readers], n, "recall", resamples),
    }
    if why is None and any(len(np.unique(said)) < 2 for said in (by_judge, by_readers)):
        why = _ONE_SAYS_THE_SAME
    if why is None:
        from sklearn.metrics import cohen_kappa_score  # slow to import

        kappa = float(cohen_kappa_score(by_judge, by_readers))
        limits = bootstrap_interval(
            counts,
            lambda many: cohens_kappa(many @ kinds),
            resamples=_affordable_resamples(resamples, len(counts)),
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
    """Return the share of answers on which the other side agrees; none for too few answers."""
    if n < MIN_COMPARED_ANSWERS or not len(agreed):
        why = _NEVER[what] if n >= MIN_COMPARED_ANSWERS else too_few_reason(n)
        return Rate(int(agreed.sum()), len(agreed), 0, None, Interval(None, None, why), None)
    return measure_rate(tally_patients(agreed.astype(np.int64), patient), resamples=resamples)


def _measure_scores(
    judge: Judge, dimension: str, opinions: JudgeOpinions, review_set: ReviewSet, resamples: int
) -> ScoreAgreement:
    said = opinions.of(judge, dimension=dimension)
    final = load_finals(review_set).by_answer(dimension)
    numbers = pl.Series("number", review_set.numbers_of(final), dtype=pl.Int64)
    both = said.join(final.with_columns(numbers), on="number", maintain_order="left")
    a, b = (both[name].cast(pl.Float64).to_numpy() for name in ("score", "value"))
    n, apart = len(a), np.abs(a - b)
    each = np.stack([np.ones(n), a, b, a**2 + b**2, apart**2, apart, apart == 0], axis=1)
    kinds, counts = _group_patients(each, both["patient"].to_numpy())
    few = too_few_reason(n) if n < MIN_COMPARED_ANSWERS else None
    same = any(len(np.unique(scores)) < 2 for scores in (a, b))
    why = few or (_ONE_SAYS_THE_SAME if same else None)

    def mean(column: int) -> tuple[float | None, Interval]:
        if few:
            return None, Interval(None, None, few)
        around = ratio_interval(kinds[:, column], kinds[:, 0], counts, resamples=resamples)
        return float(each[:, column].mean()), around

    qwk, limits = None, Interval(None, None, why)
    if why is None:
        qwk = float(quadratic_kappa_of_sums(each.sum(axis=0)[np.newaxis])[0])
        drawn = _affordable_resamples(resamples, len(counts))
        limits = bootstrap_interval(
            counts, lambda many: quadratic_kappa_of_sums(many @ kinds), resamples=drawn
        )
    (mad, mad_limits), (exact, exact_limits) = mean(5), mean(6)
    readers_n, readers_qwk = _kappa_between_readers(said["number"], dimension, review_set)
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


def _kappa_between_readers(
    numbers: pl.Series, dimension: str, review_set: ReviewSet
) -> tuple[int, float | None]:
    """Return the number of pairs of two readers' scores on some answers, and kappa over them."""
    scores = list_single_scores(review_set)
    of_answers = pl.Series(review_set.numbers_of(scores.select("case", "model")), dtype=pl.Int64)
    judged = scores.filter(of_answers.is_in(numbers.implode()))
    readers = _list_readers(judged)
    tables = count_pair_tables(judged, readers, dimensions=(dimension,))
    table = sum(tables.values(), np.zeros((5, 5), dtype=np.int64))
    n = int(table.sum())
    flat = table.ravel()
    one_score = any(np.count_nonzero(table.sum(axis=axis)) < 2 for axis in (0, 1))
    if n < MIN_COMPARED_ANSWERS or one_score:
        return n, None
    return n, float(quadratic_kappa(flat)[0])


def _list_readers(scores: pl.DataFrame) -> Sequence[str]:
    return scores["reader"].unique().sort().to_list()


def _group_patients(each: np.ndarray, patient: np.ndarray) -> tuple[np.ndarray, Counts]:
    """Sum values of answers by patient, and count patients with the same sums.

    ``each`` has shape (n, values). The results have shapes (k, values) and (k,).
    """
    if not len(each):
        return np.zeros((0, each.shape[1])), np.zeros(0, dtype=np.int64)
    _, place = np.unique(patient, return_inverse=True)
    sums = np.zeros((int(place.max()) + 1, each.shape[1]))
    np.add.at(sums, place, each)
    kinds, counts = np.unique(sums, axis=0, return_counts=True)
    return kinds, counts.astype(np.int64)


def _affordable_resamples(resamples: int, kinds: int) -> int:
    if not resamples:
        return 0
    return min(resamples, max(_FEWEST_DRAWN, _MOST_CELLS // max(kinds, 1)))
