"""The report's tables of generated reports: boards, correlations, error-free shares, preferences.

The fields are described in ``docs/statistics.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

import numpy as np
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.generated_reports.board import LEAST_FOR_A_PLACE, BoardCell, Kinds, board
from rexview.stats.generated_reports.correlation import COEFFICIENTS, correlations
from rexview.stats.generated_reports.line_edits import (
    NOBODY,
    edited_reports,
    error_free,
    error_free_tallies,
)
from rexview.stats.generated_reports.metric_means import Rank
from rexview.stats.generated_reports.preferences import RESAMPLES as COMPARISON_RESAMPLES
from rexview.stats.generated_reports.preferences import (
    comparisons_between,
    strengths,
    tally_preferences,
)
from rexview.stats.generated_reports.values import IDENTITY, Identity, ReportValues, report_values

METHODS: Final[dict[str, str]] = {
    "boards": "mean over the answers with a value; 1 divided by the mean for metrics shown as a "
    "reciprocal; patients resampled (BCa), places by percentiles of the same resamples",
    "site_ranks": "boards of each site; a model with fewer than "
    f"{LEAST_FOR_A_PLACE} answers there has no place",
    "correlations": "over answers with both values, lower-is-better metrics with the other sign; "
    "delete-a-group jackknife over patients on Fisher's z, Student's t",
    "error_free": "of the reports that a reader or judge went over line by line, those without an "
    "edit of that severity or above; interval as failure_interval",
    "preferences": "Bradley and Terry's model, log odds with sum 0, a tie is half a win for each; "
    "cases resampled, percentiles",
}
TABLES: Final = ("boards", "site_ranks", "correlations", "error_free", "preferences")
"""The names of the tables."""
_STUDIES: Final = {None: pl.lit(True), "normal": pl.col("normal"), "abnormal": ~pl.col("normal")}

Row = dict[str, Any]


def generated_report_rows(
    review_set: ReviewSet,
    kinds: Kinds,
    *,
    not_averaged: Collection[str] = (),
    resamples: int = RESAMPLES,
) -> dict[str, list[Row]]:
    """Work out the tables of generated reports.

    Parameters
    ----------
    review_set : ReviewSet
    kinds : callable
        Says which way a metric is better, and whether its reciprocal is shown.
    not_averaged : collection of str
        Metrics that are reciprocals: those of single answers are left out.
    resamples : int
        Of the bootstrap; 0 for no intervals.

    Returns
    -------
    dict
        ``boards``, ``site_ranks``, ``correlations``, ``error_free`` and ``preferences``, each a
        list of rows; empty where there is nothing of the kind.
    """
    values = report_values(review_set)
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


def _scopes(values: ReportValues) -> Iterator[list[Identity]]:
    """Yield the metrics of each scope."""
    met = values.met()
    for scope in dict.fromkeys(one[3] for one in met):
        yield [one for one in met if one[3] == scope]


def _boards(values: ReportValues, kinds: Kinds, resamples: int, least: int = 1) -> Iterator[Row]:
    models = values.models_met()
    for metrics in _scopes(values):
        given = values.by_patient(metrics, models)
        found = board(given, metrics, models, kinds, least=least, resamples=resamples)
        for metric in metrics:
            together = np.unique(values.of(metric).together)
            for model in models:
                cell = found.cells[metric, model]
                if cell.n:
                    shown_as = kinds(metric[0]).reciprocal or metric[0]
                    together_n = together[together > 0].tolist()
                    yield _board_row(cell, shown_as, found.resamples, together_n)


def _board_row(cell: BoardCell, shown_as: str, resamples: int, together: list[int]) -> Row:
    identity = dict(zip(IDENTITY, cell.metric, strict=True))
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


def _places(rank: Rank | None) -> Row:
    names = {"place": "place", "place_low": "low", "place_high": "high"}
    return {name: rank and getattr(rank, field) for name, field in names.items()}


def _site_ranks(
    review_set: ReviewSet, values: ReportValues, kinds: Kinds, resamples: int
) -> Iterator[Row]:
    sites = review_set.cases["site"]
    for site in sites.drop_nulls().unique().sort() if len(values) else ():
        here = (sites == site).fill_null(False).to_numpy()
        for row in _boards(
            values.of_answers(here[review_set.newest.case]), kinds, resamples, LEAST_FOR_A_PLACE
        ):
            yield {"site": site, **row}


def _correlations(values: ReportValues, kinds: Kinds, *, intervals: bool) -> Iterator[Row]:
    for metrics in _scopes(values):
        given, _, patients = values.matrix(metrics)
        lower = [kinds(one[0]).higher_is_better is False for one in metrics]
        given = given * np.where(lower, -1.0, 1.0)
        for coefficient in COEFFICIENTS if len(metrics) > 1 else ():
            for one in correlations(given, patients, coefficient, intervals=intervals):
                first, second = (
                    dict(zip(IDENTITY, metrics[place], strict=True))
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
    edited = edited_reports(review_set)
    normal = review_set.cases["normal"].gather(review_set.newest.case[edited["number"].to_numpy()])
    edited = edited.with_columns(normal=normal)
    models = [model.id for model in review_set.models]
    for studies, which in _STUDIES.items():
        left = edited.filter(which.fill_null(False))
        for tally in error_free_tallies(left, list(review_set.reader_names), models):
            found = error_free(tally, resamples=resamples)
            yield {
                "reader": None if found.reader == NOBODY else found.reader,
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
    left = comparisons_between(review_set, np.ones(len(review_set.newest), dtype=np.bool_))
    met = {*left["first"], *left["second"]}
    models = [model.id for model in review_set.models if model.id in met]
    if not models:
        return
    found = strengths(tally_preferences(left, models), resamples=resamples)
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
