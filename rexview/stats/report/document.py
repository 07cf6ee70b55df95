"""All tables of a review set's scores as plain data: ``python -m rexview stats FOLDER --json``.

Numbers have full precision. Undefined numbers are None, with the reason in the row's ``why``.
The fields are described in ``docs/statistics.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import polars as pl

from rexview import __version__
from rexview.schema import ReviewSet
from rexview.stats.answer_states import count_missing_answers
from rexview.stats.bootstrap import LEVEL, RESAMPLES, SEED, Interval
from rexview.stats.criterion_agreement import compare_set_criteria
from rexview.stats.failure_rates import (
    JUDGED_COLUMNS,
    clear_unknown_pairs,
    compare_failures,
    find_clusters,
    group_judged,
    is_frequency_known,
    measure_failure_rates,
    tally_model_pairs,
    tally_patients,
)
from rexview.stats.multiple_choice import measure_choice_accuracies
from rexview.stats.paired_tests import compare_all_models
from rexview.stats.reader_agreement import (
    PairAgreement,
    count_pair_tables,
    count_score_patterns,
    measure_alphas,
    measure_pair_agreements,
)
from rexview.stats.report import lists
from rexview.stats.report import lists as judges_listed
from rexview.stats.report.lists import TABLES, choice_lists
from rexview.stats.score_finals import (
    CONTENT_ORDERS,
    TEXT_SCORES,
    ContentOrder,
    list_single_scores,
    list_unfinished_work,
    load_finals,
)
from rexview.stats.score_summaries import (
    GapSummary,
    ScoreSummary,
    summarise_gaps,
    summarise_scores,
    tally_scores,
)
from rexview.stats.self_contradiction import measure_set_contradictions
from rexview.vocab import FAILURES, IMAGE_DIMENSIONS

METHODS: Final[dict[str, str]] = {
    "final_score": "mean of the readers' scores of one answer; image scores: of one picture",
    "no_answer": "cut at the token limit, an error, refused or empty: no score enters a mean",
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
    "choices": "correct of all answers to choice questions whose right option is known; without a "
    "usable choice: failed, in n and not correct. Without a choice of its own an answer's text is "
    "read: what it says outright, never a guess",
    "choice_interval": "as failure_interval",
    "choice_test": "McNemar, exact (scipy.stats.binomtest), over the questions that both answered, "
    "failed choices as wrong; Benjamini-Hochberg within models, and within models with readers",
    "choice_kappa": "Cohen's kappa of the options' places, not weighted "
    "(sklearn.metrics.cohen_kappa_score), over the questions in which both chose one",
    "self_contradiction": "of the newest answers that one run asked for more than once: one repeat "
    "says right and another left of the same finding, or two chose different options; interval as "
    "failure_interval",
    "curation_agreement": "Cohen's kappa with quadratic weights between a model's scores of "
    "candidate questions and people's, over the questions that both scored; intervals: studies are "
    "resampled (BCa)",
    "unfinished": "scores written in the app for a case of which their reader has not given every "
    "score asked for are left out of all tables",
}
_LIBRARIES: Final = ("numpy", "polars", "scipy", "scikit-learn", "krippendorff")

Row = dict[str, Any]


def build_statistics_report(
    review_set: ReviewSet,
    *,
    gap_threshold: float,
    content_order: ContentOrder = "mean_first",
    resamples: int = RESAMPLES,
    judged: pl.DataFrame | None = None,
    verdicts: pl.DataFrame | None = None,
    again: pl.DataFrame | None = None,
    generated: Mapping[str, list[Row]] | None = None,
    coverage: list[Row] | None = None,
) -> dict[str, Any]:
    """Return every table of a review set.

    Models and readers come in the order of the set. Tables whose input is missing are empty.

    Parameters
    ----------
    review_set : ReviewSet
    gap_threshold : float
        The smallest gap (process minus execution) that is flagged.
    content_order : str
    resamples : int
        Number of resamples for intervals; 0 for no intervals.
    judged : polars.DataFrame, optional
        From :func:`rexview.detect.judged_answers`, for failure rates.
    verdicts : polars.DataFrame, optional
        The readers' verdicts (:attr:`rexview.detect.Survey.verdicts`), for judges.
    again : polars.DataFrame, optional
        From :func:`rexview.detect.self_contradiction.compare_repeats`.
    generated : mapping, optional
        From :func:`rexview.stats.report.lists.generated_report_rows`.
    coverage : list of rows, optional
        From :func:`rexview.curation.coverage.coverage_rows`.

    Returns
    -------
    dict
        ``scores``, ``tests``, ``gap``, ``readers``, ``no_answer``, ``friedman``, ``alpha``,
        ``failures``, ``failure_tests``, ``choices``, ``choice_raters``, ``choice_readers``,
        ``choice_tests``, ``choice_kappa``, ``self_contradiction``, the tables of ``generated``,
        ``judge_failures``, ``judge_scores``, ``curation_agreement``, ``curation_coverage`` and
        ``unfinished``, each a list of rows, and ``about``: definitions, models, readers and
        versions. Models without an answer in the set are left out.
    """
    values = load_finals(review_set, content_order=content_order)
    given = list_single_scores(review_set)
    answered = set(review_set.answers["model"].unique())
    models = [model.id for model in review_set.models if model.id in answered]
    readers = list(review_set.reader_names)
    compared = compare_all_models(values.by_answer, models, resamples=resamples)
    counted = tally_scores(values)
    scores = summarise_scores(counted, models, resamples=resamples)
    gaps = summarise_gaps(counted, models, threshold=gap_threshold, resamples=resamples)
    agreements = measure_pair_agreements(
        count_pair_tables(given, readers), readers, resamples=resamples
    )
    rates: list[Row] = []
    failure_comparisons: list[Row] = []
    if judged is not None:
        rates, failure_comparisons = _failure_rows(judged, review_set.cases, models, resamples)
    begun = list_unfinished_work(review_set).group_by("reader", maintain_order=True).len("cases")
    return {
        "scores": [_summary_row(row, "score") for row in scores],
        "tests": list(map(_plain_row, compared.tests)),
        "gap": [_summary_row(row, "gap") for row in gaps],
        "readers": list(map(_agreement_row, agreements)),
        "no_answer": list(map(_plain_row, count_missing_answers(review_set.answers, models))),
        "friedman": list(map(_plain_row, compared.friedman)),
        "alpha": list(
            map(_plain_row, measure_alphas(count_score_patterns(given), resamples=resamples))
        ),
        "failures": rates,
        "failure_tests": failure_comparisons,
        "choices": list(
            map(_plain_row, measure_choice_accuracies(review_set, models, resamples=resamples))
        ),
        **choice_lists(review_set, resamples=resamples),
        "self_contradiction": []
        if again is None
        else list(
            map(_plain_row, measure_set_contradictions(review_set, again, resamples=resamples))
        ),
        **(generated or {name: [] for name in TABLES}),
        **judges_listed.judge_lists(review_set, verdicts, resamples=resamples),
        "curation_agreement": list(
            map(_plain_row, compare_set_criteria(review_set, resamples=resamples))
        ),
        "curation_coverage": coverage or [],
        "unfinished": begun.to_dicts(),
        "about": {
            "name": review_set.info.name,
            "models": models,
            "readers": readers,
            "content_order": content_order,
            "content": CONTENT_ORDERS[content_order],
            "gap_threshold": gap_threshold,
            "families": [list(TEXT_SCORES), list(IMAGE_DIMENSIONS)],
            "level": LEVEL,
            "resamples": resamples,
            "seed": SEED,
            "methods": METHODS | lists.GENERATED_REPORTS_METHODS | judges_listed.METHODS,
            "versions": {"rexview": __version__} | {name: version(name) for name in _LIBRARIES},
        },
    }


def _plain_row(record: Any, **names: str) -> Row:
    """Return a record's fields by name, with an interval as two limits, ``ci``."""
    row: Row = {}
    for field in fields(record):
        name, value = names.get(field.name, field.name), getattr(record, field.name)
        if isinstance(value, Interval):
            name = name.replace("interval", "ci")
            row |= {f"{name}_low": value.low, f"{name}_high": value.high}
        elif isinstance(value, np.ndarray | tuple):
            row[name] = np.asarray(value).tolist()
        else:
            row[name] = dict(value) if isinstance(value, Mapping) else value
    return row


def _summary_row(record: ScoreSummary | GapSummary, name: str) -> Row:
    """Return a summary as plain data, with a row for each count: JSON keys cannot be numbers."""
    counts = [{name: value, "n": n} for value, n in record.counts.items()]
    return _plain_row(record) | {"counts": counts}


def _agreement_row(record: PairAgreement) -> Row:
    return _plain_row(
        record, difference="mean_difference", difference_interval="mean_difference_interval"
    )


def _failure_rows(
    judged: pl.DataFrame, cases: pl.DataFrame, models: Sequence[str], resamples: int
) -> tuple[list[Row], list[Row]]:
    """Return the rates of all failures that can be judged, and the tests of models."""
    rule, reader = pl.col("detected"), pl.col("reader_flagged")
    flagged = judged.with_columns(flagged=rule | reader)
    counts = {
        (failure, model): numbers
        for failure, model, *numbers in flagged.group_by("failure", "model")
        .agg(
            (rule & ~reader).sum(),
            (reader & ~rule).sum().alias("only_reader"),
            (rule & reader).sum().alias("both"),
            (pl.col("hinted") & ~rule & ~reader).sum(),
            rule.any().alias("by_rule"),
            pl.col("spoken").any().alias("by_reader"),
        )
        .iter_rows()
    }
    unknown = {
        about
        for about, (*_, by_rule, by_reader) in counts.items()
        if not is_frequency_known(about[0], by_rule=by_rule, by_reader=by_reader)
    }
    met = set(flagged["failure"].unique())
    failures = [failure for failure in FAILURES if failure in met]
    parts = group_judged(flagged.select(list(JUDGED_COLUMNS)), find_clusters(cases))
    tallies = {about: tally_patients(part.flagged, part.patients) for about, part in parts.items()}
    rates: list[Row] = []
    for row in measure_failure_rates(tallies, models, failures, resamples=resamples):
        about = row.failure, row.model
        only_rule, only_reader, both, hinted, *_ = counts.get(about, (0, 0, 0, 0))
        share = row.rate.not_judged() if about in unknown else row.rate
        rates.append(
            {
                "failure": row.failure,
                "model": row.model,
                "n": share.n,
                "flagged": share.flagged,
                "share": share.share,
                "ci_low": share.interval.low,
                "ci_high": share.interval.high,
                "interval": share.method,
                "patients": share.clusters,
                "rule_only": only_rule,
                "reader_only": only_reader,
                "rule_and_reader": both,
                "possible": hinted,
                "why": share.interval.why,
            }
        )
    pairs = clear_unknown_pairs(tally_model_pairs(parts, models, failures), unknown)
    tests = compare_failures(pairs, resamples=resamples)
    return rates, [_plain_row(test) | {"why": test.why or test.interval.why} for test in tests]
