"""Rows of plain data for judges, choices and generated reports, and cells of their tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.error_free_reports import (
    UNNAMED_EDITOR_ID,
    count_error_free,
    list_edited_reports,
    measure_error_free,
)
from rexview.stats.failure_rates import PairTally, Rate
from rexview.stats.judge_agreement import (
    MIN_COMPARED_ANSWERS,
    FailureAgreement,
    ScoreAgreement,
    collect_judge_opinions,
    collect_reader_verdicts,
    measure_failure_agreements,
    measure_score_agreements,
)
from rexview.stats.metric_correlation import COEFFICIENT_NAMES, correlate_columns
from rexview.stats.multiple_choice import (
    FINDING_CATEGORY_TAGS,
    ChoiceTally,
    Rater,
    RaterChoices,
    RaterPairKey,
    collect_choices,
    compare_choices,
    count_options,
    measure_accuracy,
    measure_choice_kappa,
    tally_choices,
    tally_rater_pair,
)
from rexview.stats.preferences import RESAMPLES as COMPARISON_RESAMPLES
from rexview.stats.preferences import fit_strengths, select_comparisons, tally_preferences
from rexview.stats.report_metrics import (
    IDENTITY_COLUMNS,
    MIN_ANSWERS_FOR_RANK,
    LeaderboardCell,
    MetricIdentity,
    MetricKindLookup,
    ModelRank,
    ReportValues,
    build_board,
    collect_report_values,
)
from rexview.vocab import DIMENSION_NAMES, FAILURES

MISSING: Final = "-"
"""Cell of an undefined number."""
TableRow = Mapping[str, Any]
Columns = Mapping[str, Callable[[TableRow], str]]
"""Functions that return a row's cell, by the column's title."""


def number(name: str, form: str = ".2f") -> Callable[[TableRow], str]:
    """Return a function for cells with a number, in a format of :func:`format`."""
    return lambda row: MISSING if row[name] is None else format(row[name], form)


def p_value(name: str) -> Callable[[TableRow], str]:
    """Return a function for cells with a p value."""

    def write(row: TableRow) -> str:
        p = row[name]
        if p is None:
            return MISSING
        return "<0.001" if p < 0.001 else f"{p:.3f}"

    return write


def limits(prefix: str = "ci_", form: str = ".2f") -> Callable[[TableRow], str]:
    """Return a function for cells with an interval, from the fields ``low`` and ``high``."""

    def write(row: TableRow) -> str:
        low, high = row[f"{prefix}low"], row[f"{prefix}high"]
        return MISSING if low is None else f"{low:{form}} to {high:{form}}"

    return write


def word(name: str) -> Callable[[TableRow], str]:
    """Return a function for cells with a word."""
    return lambda row: row[name] or MISSING


# Judges compared with readers, as rows of plain data: two lists of ``stats --json``.

LISTS: Final = ("judge_failures", "judge_scores")
METHODS: Final[dict[str, str]] = {
    "judge_failures": "a judge's opinions against the readers' verdicts: Cohen's kappa "
    "(sklearn.metrics.cohen_kappa_score), precision and recall. Readers see a failure that one of "
    "them confirmed; they do not see one that all rejected, or that a reader who marks failures "
    "left alone on an answer whose scores they gave",
    "judge_scores": "a judge's scores against final scores: quadratic-weighted kappa, final scores "
    "not rounded (then it is Lin's concordance correlation); exact: the very same score",
    "judge_interval": f"BCa bootstrap of patients; none below {MIN_COMPARED_ANSWERS} answers. "
    "With more than 500 "
    "patients that differ in their counts fewer resamples are drawn for kappa, never below 999",
}
Row = dict[str, Any]


def judge_lists(
    review_set: ReviewSet, verdicts: pl.DataFrame | None, *, resamples: int = RESAMPLES
) -> dict[str, list[Row]]:
    """Return both lists; empty for a set without opinions.

    ``verdicts`` are the readers' newest ones, as for :func:`collect_reader_verdicts`; without them,
    failures are compared with nothing.
    """
    if review_set.opinions.is_empty():
        return {name: [] for name in LISTS}
    opinions = collect_judge_opinions(review_set)
    failures: list[Row] = []
    if verdicts is not None:
        read = collect_reader_verdicts(review_set, verdicts)
        found = measure_failure_agreements(opinions, read, resamples=resamples)
        failures = list(map(_failure_row, found))
    scores = measure_score_agreements(opinions, review_set, resamples=resamples)
    return {"judge_failures": failures, "judge_scores": list(map(_score_row, scores))}


def _failure_row(found: FailureAgreement) -> Row:
    return {
        "judge": found.judge.model,
        "prompt_id": found.judge.prompt_id,
        "failure": found.failure,
        "opinions": found.opinions,
        "present": found.present,
        "n": found.n,
        "patients": found.patients,
        "silent": found.silent,
        "both": found.both,
        "only_judge": found.only_judge,
        "only_readers": found.only_readers,
        "neither": found.neither,
        "kappa": found.kappa,
        "ci_low": found.interval.low,
        "ci_high": found.interval.high,
        **_share("precision", found.precision),
        **_share("recall", found.recall),
        "why": found.why or found.precision.interval.why or found.recall.interval.why,
    }


def _share(name: str, found: Rate) -> Row:
    return {
        name: found.share,
        f"{name}_n": found.n,
        f"{name}_ci_low": found.interval.low,
        f"{name}_ci_high": found.interval.high,
    }


def _score_row(found: ScoreAgreement) -> Row:
    return {
        "judge": found.judge.model,
        "prompt_id": found.judge.prompt_id,
        "dimension": found.dimension,
        "opinions": found.opinions,
        "n": found.n,
        "patients": found.patients,
        "judge_mean": found.judge_mean,
        "readers_mean": found.readers_mean,
        "qwk": found.qwk,
        "qwk_ci_low": found.qwk_interval.low,
        "qwk_ci_high": found.qwk_interval.high,
        "mad": found.mad,
        "mad_ci_low": found.mad_interval.low,
        "mad_ci_high": found.mad_interval.high,
        "exact": found.exact,
        "exact_ci_low": found.exact_interval.low,
        "exact_ci_high": found.exact_interval.high,
        "readers_n": found.readers_n,
        "readers_qwk": found.readers_qwk,
        "why": found.why,
    }


_WHO: Final[Columns] = {"judge": word("judge"), "prompt": word("prompt_id")}
JUDGE_TABLES: Final[tuple[tuple[str, str, Columns], ...]] = (
    (
        "Judges beside readers: failures (a language model's opinion)",
        "judge_failures",
        {
            "failure": lambda row: FAILURES[row["failure"]].name,
            **_WHO,
            "said present": number("present", "d"),
            "of": number("opinions", "d"),
            "n": number("n", "d"),
            "kappa": number("kappa"),
            "95% CI": limits(),
            "precision": number("precision", ".0%"),
            "CI of it": limits("precision_ci_", ".0%"),
            "recall": number("recall", ".0%"),
            "CI of that": limits("recall_ci_", ".0%"),
        },
    ),
    (
        "Judges beside readers: scores (a language model's opinion)",
        "judge_scores",
        {
            "dimension": lambda row: DIMENSION_NAMES[row["dimension"]],
            **_WHO,
            "scored": number("opinions", "d"),
            "n": number("n", "d"),
            "mean": number("judge_mean"),
            "readers": number("readers_mean"),
            "QWK": number("qwk"),
            "95% CI": limits("qwk_ci_"),
            "MAD": number("mad"),
            "exact": number("exact", ".0%"),
            "readers' QWK": number("readers_qwk"),
        },
    ),
)


# Raters' choices as rows of plain data: the lists of ``stats --json`` besides ``choices``.

_COLUMNS: Final = {"task": "category", "difficulty": "difficulty", "site": "site"}
"""Columns of the cases by property of the questions."""
_TAGS: Final = {"category": FINDING_CATEGORY_TAGS, "class": ("class",)}
"""Names of tags by property of the questions; the first that a case has counts."""


def choice_lists(review_set: ReviewSet, *, resamples: int = RESAMPLES) -> dict[str, list[Row]]:
    """Return the lists; all are empty for a set without answers to choice questions.

    Returns
    -------
    dict
        ``choice_raters`` (every rater over all questions, and by task, difficulty, site, category
        and class), ``choice_readers`` (the same over the questions that readers answered),
        ``choice_tests`` and ``choice_kappa``.
    """
    chosen = collect_choices(review_set)
    return {
        "choice_raters": [
            _counted(chosen.raters[place], tally, resamples, by=by, value=value)
            for by, value, part in _parts(chosen, review_set.cases)
            for place, tally in _tallies(part)
        ],
        "choice_readers": [
            _counted(chosen.raters[place], tally, resamples)
            for place, tally in _tallies(chosen.of(chosen.read_by_people))
        ],
        "choice_tests": [
            row for family in ("models", "readers") for row in _tests(chosen, family, resamples)
        ],
        "choice_kappa": list(_kappas(chosen, review_set.cases)),
    }


def _tallies(chosen: RaterChoices) -> Iterator[tuple[int, ChoiceTally]]:
    for place in range(len(chosen.raters)):
        tally = tally_choices(chosen, place)
        if tally.patients.n:
            yield place, tally


def _parts(
    chosen: RaterChoices, cases: pl.DataFrame
) -> Iterator[tuple[str | None, str | None, RaterChoices]]:
    """Yield all questions, then those with each value of each property, in alphabetical order."""
    yield None, None, chosen
    asked = cases[chosen.case_row].select("tags", *_COLUMNS.values()).with_row_index("place")
    tag = pl.element().struct.field("name").str.to_lowercase().str.replace_all(r"[\s-]+", "_")
    found = {by: pl.concat_list(pl.col(name).cast(pl.String)) for by, name in _COLUMNS.items()}
    for by, names in _TAGS.items():
        lists = [
            pl.col("tags")
            .list.eval(pl.element().filter(tag == name).struct.field("values").explode())
            .list.drop_nulls()
            .list.unique()
            for name in names
        ]
        found[by] = pl.coalesce(pl.when(one.list.len() > 0).then(one) for one in lists)
    for by, values in found.items():
        one_each = asked.select("place", value=values).explode("value").drop_nulls("value")
        for (value,), part in one_each.sort("value").partition_by("value", as_dict=True).items():
            yield by, str(value), chosen.of(part["place"].sort().to_numpy())


def _counted(rater: Rater, tally: ChoiceTally, resamples: int, **about: str | None) -> Row:
    found = measure_accuracy(tally, resamples=resamples)
    rate = found.rate
    return {
        "rater": rater.id,
        "kind": rater.kind,
        **about,
        "n": rate.n,
        "correct": rate.flagged,
        "failed": found.failed,
        "accuracy": rate.share,
        "low": rate.interval.low,
        "high": rate.interval.high,
        "accuracy_read": found.without_failed.share,
        "interval": rate.method,
        "patients": rate.clusters,
        "why": rate.interval.why,
    }


def _tests(chosen: RaterChoices, family: str, resamples: int) -> Iterator[Row]:
    """Yield the tests of one family: models among themselves, or each with each reader."""
    raters, readers = chosen.raters, int(family == "readers")
    pairs: dict[RaterPairKey, PairTally] = {
        (None, a, b): tally_rater_pair(chosen, a, b)
        for a, b in combinations(range(len(raters)), 2)
        if raters[a].is_reader + raters[b].is_reader == readers
    }
    shared = {about: pair for about, pair in pairs.items() if pair.by_patient.n}
    for test in compare_choices(shared, resamples=resamples):
        yield {
            "family": family,
            "rater_a": raters[test.rater_a].id,
            "rater_b": raters[test.rater_b].id,
            "n_pairs": test.n_pairs,
            "only_a": test.only_a,
            "only_b": test.only_b,
            "both": test.both,
            "difference": test.difference,
            "ci_low": test.interval.low,
            "ci_high": test.interval.high,
            "p": test.p,
            "p_adj": test.p_adj,
            "left_out": test.left_out,
            "why": test.why or test.interval.why,
        }


def _kappas(chosen: RaterChoices, cases: pl.DataFrame) -> Iterator[Row]:
    """Yield the agreement of each two raters that share any question, over all, then by task."""
    tasks = cases["category"].gather(chosen.case_row).fill_null("").to_numpy()
    every: list[tuple[str | None, RaterChoices]] = [(None, chosen)]
    every += [
        (str(task), chosen.of(np.flatnonzero(tasks == task))) for task in np.unique(tasks) if task
    ]
    for task, part in every:
        for a, b in combinations(range(len(part.raters)), 2):
            found = measure_choice_kappa(task, a, b, count_options(part, a, b))
            if found.n:
                yield {
                    "task": task,
                    "rater_a": part.raters[a].id,
                    "rater_b": part.raters[b].id,
                    "n": found.n,
                    "same": found.same,
                    "agreement": found.agreement,
                    "kappa": found.kappa,
                    "why": found.why,
                }


# Generated reports: boards, correlations, error-free shares, preferences.
#
# The fields are described in ``docs/statistics.md``.

GENERATED_REPORTS_METHODS: Final[dict[str, str]] = {
    "boards": "mean over the answers with a value; 1 divided by the mean for metrics shown as a "
    "reciprocal; patients resampled (BCa), places by percentiles of the same resamples",
    "site_ranks": "boards of each site; a model with fewer than "
    f"{MIN_ANSWERS_FOR_RANK} answers there has no place",
    "correlations": "over answers with both values, lower-is-better metrics with the other sign; "
    "delete-a-group jackknife over patients on Fisher's z, Student's t",
    "error_free": "of the reports that a reader or judge went over line by line, those without an "
    "edit of that severity or above; interval as failure_interval",
    "preferences": "Bradley and Terry's model, log odds with sum 0, a tie is half a win for each; "
    "cases resampled, percentiles",
}
TABLES: Final = ("boards", "site_ranks", "correlations", "error_free", "preferences")
"""Names of the tables."""
_STUDIES: Final = {None: pl.lit(True), "normal": pl.col("normal"), "abnormal": ~pl.col("normal")}


def generated_report_rows(
    review_set: ReviewSet,
    kinds: MetricKindLookup,
    *,
    not_averaged: Collection[str] = (),
    resamples: int = RESAMPLES,
) -> dict[str, list[Row]]:
    """Return the tables of generated reports.

    Parameters
    ----------
    review_set : ReviewSet
    kinds : callable
        Returns a metric's direction, and whether its reciprocal is shown.
    not_averaged : collection of str
        Metrics that are reciprocals; their values for single answers are left out.
    resamples : int
        Number of resamples for the bootstrap; 0 for no intervals.

    Returns
    -------
    dict
        ``boards``, ``site_ranks``, ``correlations``, ``error_free`` and ``preferences``, each a
        list of rows, which may be empty.
    """
    values = collect_report_values(review_set)
    values = values.only(
        np.array([one[0] not in not_averaged for one in values.metrics], dtype=np.bool_)[
            values.metric
        ]
    )
    some = min(resamples, COMPARISON_RESAMPLES)
    return {
        "boards": list(_boards(values, kinds, resamples)),
        "site_ranks": list(_site_ranks(review_set, values, kinds, resamples)),
        "correlations": list(_correlations(values, kinds, intervals=resamples > 0)),
        "error_free": list(_error_free(review_set, resamples)),
        "preferences": list(_preferences(review_set, some)),
    }


def _scopes(values: ReportValues) -> Iterator[list[MetricIdentity]]:
    """Yield the metrics of each scope."""
    met = values.met()
    for scope in dict.fromkeys(one[3] for one in met):
        yield [one for one in met if one[3] == scope]


def _boards(
    values: ReportValues, kinds: MetricKindLookup, resamples: int, least: int = 1
) -> Iterator[Row]:
    models = values.models_met()
    for metrics in _scopes(values):
        given = values.by_patient(metrics, models)
        found = build_board(given, metrics, models, kinds, least=least, resamples=resamples)
        for metric in metrics:
            together = np.unique(values.of(metric).together)
            for model in models:
                cell = found.cells[metric, model]
                if cell.n:
                    shown_as = kinds(metric[0]).reciprocal or metric[0]
                    together_n = together[together > 0].tolist()
                    yield _board_row(cell, shown_as, found.resamples, together_n)


def _board_row(cell: LeaderboardCell, shown_as: str, resamples: int, together: list[int]) -> Row:
    identity = dict(zip(IDENTITY_COLUMNS, cell.metric, strict=True))
    return {
        "scope": identity.pop("scope"),
        **identity,
        "shown_as": shown_as,
        "model": cell.model,
        "n": cell.n,
        "patients": cell.patients,
        "value": cell.shown,
        "low": cell.shown_interval.low,
        "high": cell.shown_interval.high,
        "mean": cell.mean,
        "mean_low": cell.interval.low,
        "mean_high": cell.interval.high,
        **_places(cell.rank),
        "computed_together": together,
        "resamples": resamples,
        "why": cell.why,
    }


def _places(rank: ModelRank | None) -> Row:
    names = {"place": "place", "place_low": "low", "place_high": "high"}
    return {name: rank and getattr(rank, field) for name, field in names.items()}


def _site_ranks(
    review_set: ReviewSet, values: ReportValues, kinds: MetricKindLookup, resamples: int
) -> Iterator[Row]:
    sites = review_set.cases["site"]
    for site in sites.drop_nulls().unique().sort() if len(values) else ():
        here = (sites == site).fill_null(False).to_numpy()
        for row in _boards(
            values.of_answers(here[review_set.newest.case]), kinds, resamples, MIN_ANSWERS_FOR_RANK
        ):
            yield {"site": site, **row}


def _correlations(
    values: ReportValues, kinds: MetricKindLookup, *, intervals: bool
) -> Iterator[Row]:
    for metrics in _scopes(values):
        given, _, patients = values.matrix(metrics)
        lower = [kinds(one[0]).higher_is_better is False for one in metrics]
        given = given * np.where(lower, -1.0, 1.0)
        for coefficient in COEFFICIENT_NAMES if len(metrics) > 1 else ():
            for one in correlate_columns(given, patients, coefficient, intervals=intervals):
                first, second = (
                    dict(zip(IDENTITY_COLUMNS, metrics[place], strict=True))
                    for place in (one.first, one.second)
                )
                yield {
                    "scope": first.pop("scope"),
                    "first": first,
                    "second": {name: second[name] for name in first},
                    "coefficient": coefficient,
                    "n": one.n,
                    "patients": one.patients,
                    "value": one.value,
                    "low": one.interval.low,
                    "high": one.interval.high,
                    "why": one.interval.why,
                }


def _error_free(review_set: ReviewSet, resamples: int) -> Iterator[Row]:
    edited = list_edited_reports(review_set)
    normal = review_set.cases["normal"].gather(review_set.newest.case[edited["number"].to_numpy()])
    edited = edited.with_columns(normal=normal)
    models = [model.id for model in review_set.models]
    for studies, which in _STUDIES.items():
        left = edited.filter(which.fill_null(False))
        for tally in count_error_free(left, list(review_set.reader_names), models):
            found = measure_error_free(tally, resamples=resamples)
            yield {
                "reader": None if found.reader == UNNAMED_EDITOR_ID else found.reader,
                "model": found.model,
                "studies": studies,
                "free_of_severity": found.severity,
                "n": found.rate.n,
                "free": found.rate.flagged,
                "share": found.rate.share,
                "low": found.rate.interval.low,
                "high": found.rate.interval.high,
                "interval": found.rate.method,
                "patients": found.rate.clusters,
                "ungraded": found.ungraded,
                "why": found.why,
            }


def _preferences(review_set: ReviewSet, resamples: int) -> Iterator[Row]:
    left = select_comparisons(review_set, np.ones(len(review_set.newest), dtype=np.bool_))
    met = {*left["first"], *left["second"]}
    models = [model.id for model in review_set.models if model.id in met]
    if not models:
        return
    found = fit_strengths(tally_preferences(left, models), resamples=resamples)
    for model, one in zip(models, found, strict=True):
        yield {
            "model": model,
            "n": one.n,
            "won": one.won,
            "tied": one.tied,
            "lost": one.lost,
            "strength": one.strength,
            "low": one.interval.low,
            "high": one.interval.high,
            **_places(one.rank),
            "why": one.why,
        }
