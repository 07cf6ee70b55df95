"""What stands under the numbers of the page Report generation. All of it is plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rexview.analysis.report_generation.tables import (
    ErrorFreeTables,
    PreferenceTables,
    ReportGroups,
    ReportTables,
    severity_words,
    shown_name,
)
from rexview.metrics.identity import MetricId
from rexview.metrics.known import known_metric
from rexview.stats.bootstrap import LEVEL
from rexview.stats.generated_reports.correlation import COEFFICIENTS, Correlation
from rexview.stats.generated_reports.line_edits import FREE_OF
from rexview.stats.generated_reports.preferences import RESAMPLES as COMPARISON_RESAMPLES
from rexview.words import beginning, counted, tr, trn

FULL_RUN: Final = tr("from the full-set run")
"""Stands with values that a filter leaves a part of, though they were made to go with all."""
SPREAD: Final = tr(
    "Box: middle half of the answers, with the median; whiskers reach the "
    "furthest value within 1.5 times the box. A click opens the model's "
    "answers, the worst first."
)


def interval_caption(resamples: int, *, clustered: bool) -> str:
    """Say how intervals of means and limits of places are made."""
    of = tr("patients (else studies)") if clustered else "cases"
    return tr(
        "{level:.0%} intervals and places resample {of}, all answers of each "
        "together (BCa, {resamples:,} resamples; places: percentiles, small "
        "beside the place)."
    ).format(level=LEVEL, of=of, resamples=resamples)


def board_caption(tables: ReportTables) -> str:
    """Say what the numbers of a board are, and what is left out."""
    parts = [tr("Mean over the answers that have a value; n beside it.")]
    turned = [one for one in tables.metrics if known_metric(one.metric).reciprocal]
    if turned:
        names = " and ".join(dict.fromkeys(shown_name(one) for one in turned))
        parts.append(
            tr("{names}: 1 divided by the mean, never a mean of reciprocals.").format(names=names)
        )
    parts.append(interval_caption(tables.board.resamples, clustered=tables.clustered))
    if any(tables.is_from_full_run(one) for one in tables.metrics):
        parts.append(
            tr(
                "“{full_run}”: such values depend on the answers that they were computed "
                "with; the filter leaves a part of these, and nothing is computed anew."
            ).format(full_run=beginning(FULL_RUN))
        )
    unknown = [one.name for one in tables.metrics if _unranked(one.metric)]
    if unknown:
        parts.append(
            tr("Not ranked, as it is not known which way is better: {join}.").format(
                join=", ".join(unknown)
            )
        )
    if tables.refused:
        names = ", ".join(dict.fromkeys(one.metric for one in tables.refused))
        parts.append(
            tr("Left out, as reciprocals of single answers are not averaged: {names}.").format(
                names=names
            )
        )
    if tables.counts.people & set(tables.board.models):
        parts.append(tr("Readers' reports are measured as models' are."))
    return " ".join(parts)


def _unranked(metric: str) -> bool:
    return known_metric(metric).higher_is_better is None


def groups_caption(groups: ReportGroups) -> str:
    """Say what the numbers by a property are, and what is left out."""
    resamples = max((group.board.resamples for group in groups.groups), default=0)
    cells = [cell for group in groups.groups for cell in group.board.cells.values()]
    clustered = any(cell.patients < cell.n for cell in cells)
    if any(cell.rank for cell in cells):
        places = trn(
            "Places within the group, of models with {n:,} answer or more there.",
            "Places within the group, of models with {n:,} answers or more there.",
            groups.least,
        )
    else:
        places = trn(
            "No places: models with fewer than {n:,} answer in a group get none.",
            "No places: models with fewer than {n:,} answers in a group get none.",
            groups.least,
        )
    parts = [
        f"{shown_name(groups.metric)} ({groups.metric.computed_by}).",
        places.format(n=groups.least),
        interval_caption(resamples, clustered=clustered),
    ]
    if groups.overlap:
        parts.append(tr("A case can have several values and counts in each."))
    if groups.without:
        parts.append(
            tr("{counted} without a value left out.").format(
                counted=counted(groups.without, "case")
            )
        )
    if groups.left_out:
        parts.append(
            tr("{counted} with the fewest cases not laid out.").format(
                counted=counted(groups.left_out, "group")
            )
        )
    parts.append(tr("Groups differ in their patients: a difference between them is no test."))
    return " ".join(parts)


def direction_caption(metrics: Iterable[MetricId]) -> str:
    """Say of which metrics it is not known which way is better; empty where it is of all."""
    unknown = [one.name for one in metrics if _unranked(one.metric)]
    if not unknown:
        return ""
    names = ", ".join(dict.fromkeys(unknown))
    said = tr("Larger is taken as better where that is not known: {names}.").format(names=names)
    return f" {said}"


def correlation_caption(
    metrics: Sequence[MetricId], found: tuple[Correlation, ...], coefficient: str
) -> str:
    """Say what a coefficient is of, and how its interval is made."""
    low, high = (pick((one.n for one in found), default=0) for pick in (min, max))
    n = f"{low:,}" if low == high else tr("{low:,} to {high:,}").format(low=low, high=high)
    return tr(
        "{coefficients}'s coefficient over answers of all models that are left "
        "({n} with both values). Metrics of which lower is better are turned "
        "round: above 0, both call the same reports good.{direction_caption} "
        "{level:.0%} intervals leave out groups of patients in turn (jackknife, "
        "Fisher's z). Models that differ much make any two metrics agree: filter "
        "by one model to see whether they agree on its reports."
    ).format(
        coefficients=COEFFICIENTS[coefficient],
        n=n,
        direction_caption=direction_caption(metrics),
        level=LEVEL,
    )


def error_free_caption(tables: ErrorFreeTables) -> str:
    """Say what error-free means, and what is left out."""
    words = "; ".join(f"“{name}”: none of {severity_words(n)}" for n, name in FREE_OF.items())
    parts = [
        tr("Of the reports that the reader or judge went over line by line. {words}.").format(
            words=words
        ),
        tr(
            "{level:.0%} intervals are Wilson's, or resample patients where cases share one."
        ).format(level=LEVEL),
        tr("Severity is that of a wrong line (ReFiSco), not the harm of a failure: two scales."),
        tr("All studies: also those that are not said to be normal or abnormal."),
    ]
    left_out = max((row.numbers.ungraded for row in tables.rows), default=0)
    if left_out:
        parts.append(
            tr("Up to {counted} with an edit without severity left out.").format(
                counted=counted(left_out, "report")
            )
        )
    return " ".join(parts)


def preference_caption(tables: PreferenceTables) -> str:
    """Say what a strength is."""
    return tr(
        "{counted} of two reports ({counted_2}) in {counted_3} by {counted_4}. "
        "Strength: Bradley and Terry's model, log odds; the sum is 0, a tie is "
        "half a win for each. {level:.0%} limits of strengths and places "
        "resample cases ({comparison_resamples:,} resamples, percentiles)."
    ).format(
        counted=counted(tables.comparisons, "comparison"),
        counted_2=counted(tables.ties, "tie"),
        counted_3=counted(tables.cases, "case"),
        counted_4=counted(tables.readers, "reader"),
        level=LEVEL,
        comparison_resamples=COMPARISON_RESAMPLES,
    )
