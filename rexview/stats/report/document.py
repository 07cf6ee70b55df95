"""All tables of a review set's scores as plain data: ``python -m rexview stats FOLDER --json``.

Numbers have full precision. What is undefined is None, with the reason in the row's ``why``.
The fields are described in ``docs/statistics.md``.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Final

import polars as pl

from rexview import __version__
from rexview.schema import ReviewSet
from rexview.stats.agreement import Alpha, PairAgreement, alphas, pair_agreements
from rexview.stats.answered import NoAnswers, no_answers
from rexview.stats.bootstrap import LEVEL, RESAMPLES, SEED, Interval
from rexview.stats.final import CONTENT_ORDERS, ContentOrder
from rexview.stats.paired import FriedmanTest, PairTest, compare
from rexview.stats.report.failures import failure_rows
from rexview.stats.summary import GapSummary, ScoreSummary, gap_summaries, summaries
from rexview.stats.values import TESTED_TOGETHER, finals, given_marks, unfinished_work
from rexview.vocab import IMAGE_DIMENSIONS

METHODS: Final[dict[str, str]] = {
    "final_score": "mean of the readers' scores of one answer; image scores: of one picture",
    "no_answer": "answers that never came have no score and enter no mean",
    "sd": "sample standard deviation (n - 1)",
    "interval": "BCa bootstrap of the mean, the mean difference or the agreement",
    "pairs": "cases where both models have a final score",
    "test": "Wilcoxon signed-rank, two-sided (scipy.stats.wilcoxon, its defaults): zero "
    "differences left out of the ranking; exact up to 50 differences without ties or zeros and up "
    "to 13 with them, else normal approximation without continuity correction",
    "effect": "matched-pairs rank-biserial correlation, positive when model_a is higher",
    "correction": "Benjamini-Hochberg within a family; tests without p do not count",
    "friedman": "Friedman's chi-squared over the cases where all models with scores have one "
    "(scipy.stats.friedmanchisquare), more than two models; not adjusted",
    "qwk": "Cohen's kappa with quadratic weights over 1 to 5 (sklearn.metrics.cohen_kappa_score)",
    "alpha": "Krippendorff's alpha, ordinal (krippendorff), more than two readers",
    "failure_rate": "share of the answers that can be judged, flagged by a rule or a reader; "
    "rejected flags and hints do not count",
    "failure_interval": "Wilson; where cases share a patient or study patients are resampled "
    "(BCa), and 0 or 1 has Wilson's interval with each patient counted once",
    "failure_test": "McNemar, exact (scipy.stats.binomtest), over the cases in which both models "
    "can be judged; Benjamini-Hochberg over all failures and pairs",
    "unfinished": "scores written in the app for a case of which their reader has not given every "
    "score asked for are left out of all tables",
}
_LIBRARIES: Final = ("numpy", "polars", "scipy", "scikit-learn", "krippendorff")

Row = dict[str, Any]


def report(
    review_set: ReviewSet,
    *,
    gap_threshold: float,
    content_order: ContentOrder = "mean_first",
    resamples: int = RESAMPLES,
    judged: pl.DataFrame | None = None,
) -> dict[str, Any]:
    """Work out every table of a review set.

    Parameters
    ----------
    review_set : ReviewSet
        An open review set; models and readers stand in its order.
    gap_threshold : float
        The gap (process minus execution) from which an answer is flagged.
    content_order : str
        A word of :data:`rexview.stats.CONTENT_ORDERS`.
    resamples : int
        How many resamples the intervals rest on.
    judged : polars.DataFrame, optional
        As :func:`rexview.detect.judged_answers` lists them; without it there are no failure rates.

    Returns
    -------
    dict
        ``scores``, ``tests``, ``gap``, ``readers``, ``no_answer``, ``friedman``, ``alpha``,
        ``failures``, ``failure_tests`` and ``unfinished``, each a list of rows, and ``about``:
        definitions, models, readers and versions. Models without an answer in the set are left
        out.
    """
    values = finals(review_set, content_order=content_order)
    marks = given_marks(review_set)
    answered = set(review_set.answers["model"].unique())
    models = [model.id for model in review_set.models if model.id in answered]
    readers = list(review_set.reader_names)
    compared = compare(values, models, resamples=resamples)
    scores = summaries(values, models, resamples=resamples)
    gaps = gap_summaries(values, models, threshold=gap_threshold, resamples=resamples)
    agreements = pair_agreements(marks, readers, resamples=resamples)
    failures: tuple[list[Row], list[Row]] = ([], [])
    if judged is not None:
        failures = failure_rows(judged, review_set.cases, models, resamples)
    begun = unfinished_work(review_set).group_by("reader", maintain_order=True).len("cases")
    return {
        "scores": [_score(row) for row in scores],
        "tests": [_test(row) for row in compared.tests],
        "gap": [_gap(row) for row in gaps],
        "readers": [_agreement(row) for row in agreements],
        "no_answer": [_no_answer(row) for row in no_answers(review_set.answers, models)],
        "friedman": [_friedman(row) for row in compared.friedman],
        "alpha": [_alpha(row) for row in alphas(marks, resamples=resamples)],
        "failures": failures[0],
        "failure_tests": failures[1],
        "unfinished": begun.to_dicts(),
        "about": {
            "name": review_set.info.name,
            "models": models,
            "readers": readers,
            "content_order": content_order,
            "content": CONTENT_ORDERS[content_order],
            "gap_threshold": gap_threshold,
            "families": [list(TESTED_TOGETHER), list(IMAGE_DIMENSIONS)],
            "level": LEVEL,
            "resamples": resamples,
            "seed": SEED,
            "methods": METHODS,
            "versions": {"rexview": __version__} | {name: version(name) for name in _LIBRARIES},
        },
    }


def _limits(interval: Interval, name: str = "ci") -> Row:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}


def _score(row: ScoreSummary) -> Row:
    return {
        "dimension": row.dimension,
        "model": row.model,
        "n": row.n,
        "mean": row.mean,
        "sd": row.sd,
        **_limits(row.interval),
        "share_5": row.share_5,
        "share_below_3": row.share_below_3,
        "counts": [{"score": score, "n": n} for score, n in row.counts.items()],
        "why": row.why,
    }


def _test(row: PairTest) -> Row:
    return {
        "dimension": row.dimension,
        "model_a": row.model_a,
        "model_b": row.model_b,
        "n_pairs": row.n_pairs,
        "statistic": row.statistic,
        "p": row.p,
        "p_adj": row.p_adj,
        "effect": row.effect,
        "mean_difference": row.mean_difference,
        **_limits(row.interval),
        "n_zero": row.n_zero,
        "left_out": row.left_out,
        "method": row.method,
        "why": row.why,
    }


def _gap(row: GapSummary) -> Row:
    return {
        "model": row.model,
        "n": row.n,
        "mean": row.mean,
        **_limits(row.interval),
        "share_flagged": row.share_flagged,
        "flagged": row.flagged,
        "sd": row.sd,
        "counts": [{"gap": gap, "n": n} for gap, n in row.counts.items()],
        "why": row.why,
    }


def _agreement(row: PairAgreement) -> Row:
    return {
        "dimension": row.dimension,
        "n": row.n,
        "qwk": row.qwk,
        "mad": row.mad,
        "exact": row.exact,
        "within_one": row.within_one,
        "mean_a": row.mean_a,
        "sd_a": row.sd_a,
        "mean_b": row.mean_b,
        "sd_b": row.sd_b,
        "reader_a": row.reader_a,
        "reader_b": row.reader_b,
        **_limits(row.qwk_interval, "qwk_ci"),
        **_limits(row.mad_interval, "mad_ci"),
        **_limits(row.exact_interval, "exact_ci"),
        **_limits(row.within_one_interval, "within_one_ci"),
        "mean_difference": row.difference,
        **_limits(row.difference_interval, "mean_difference_ci"),
        "table": row.table.tolist(),
        "why": row.why,
    }


def _no_answer(row: NoAnswers) -> Row:
    return {
        "model": row.model,
        "n": row.n,
        "by_reason": dict(row.by_reason),
        "answers": row.answers,
    }


def _friedman(row: FriedmanTest) -> Row:
    return {
        "dimension": row.dimension,
        "models": list(row.models),
        "n": row.n,
        "statistic": row.statistic,
        "p": row.p,
        "why": row.why,
    }


def _alpha(row: Alpha) -> Row:
    return {
        "dimension": row.dimension,
        "n_units": row.n_units,
        "n_readers": row.n_readers,
        "alpha": row.alpha,
        **_limits(row.interval),
        "why": row.why,
    }
