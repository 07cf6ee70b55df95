"""What is asked of generated reports: part of :class:`rexview.analysis.engine.Engine`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.metrics.identity import MetricId
from rexview.stats.generated_reports.correlation import Correlation
from rexview.stats.generated_reports.line_edits import ErrorFreeTally
from rexview.stats.generated_reports.metric_means import PatientSums
from rexview.stats.generated_reports.preferences import PreferenceTally
from rexview.stats.generated_reports.spread import Spread


@dataclass(frozen=True)
class ReportCounts:
    """How much there is of generated reports.

    Attributes
    ----------
    cases : int
        Cases that ask for a report.
    answers : mapping of str to int
        Answers to them, by model that has any, in the set's order.
    metrics : tuple of MetricId
        Metrics of which any answer that is left has a value, known ones first.
    in_set : mapping of MetricId to int
        On how many answers of the whole set each of them has a value.
    together : mapping of MetricId to tuple of int
        On how many answers each was computed together, as its values say; empty where they do not.
    edits : int
        Answers that somebody corrected line by line, or found nothing to correct in.
    preferences : int
        Comparisons of two reports.
    people : frozenset of str
        Models that are readers: their reports stand among the others, and are named as such.
    """

    cases: int
    answers: Mapping[str, int]
    metrics: tuple[MetricId, ...]
    in_set: Mapping[MetricId, int]
    together: Mapping[MetricId, tuple[int, ...]]
    edits: int
    preferences: int
    people: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class MetricTally:
    """Values of metrics by patient; column ``i * len(models) + j`` is metric i of model j."""

    metrics: tuple[MetricId, ...]
    models: tuple[str, ...]
    by_patient: PatientSums


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairwise preferences among ``models``, of ``cases`` cases by ``readers`` readers."""

    models: tuple[str, ...]
    tally: PreferenceTally
    cases: int
    readers: int


@dataclass(frozen=True)
class DisputedReport:
    """An answer that two metrics put in places far apart: from 0, the worst, to 1, the best."""

    case: str
    model: str
    first: float
    second: float
    first_place: float
    second_place: float


class ReportQuestions(Protocol):
    """The questions; each takes the filter whose answers it is about."""

    def report_counts(self, case_filter: CaseFilter) -> ReportCounts:
        """Count what there is."""

    def metric_tally(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> MetricTally:
        """Sum the values of some metrics by patient, for the models that have any of them."""

    def metric_spreads(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> Mapping[tuple[MetricId, str], Spread]:
        """Say how the values of some metrics spread, by metric and model that has any."""

    def metric_correlations(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId], coefficient: str
    ) -> tuple[Correlation, ...]:
        """Correlate every two of some metrics over answers, higher being better in all.

        ``coefficient`` is one of :data:`rexview.stats.generated_reports.correlation.COEFFICIENTS`.
        """

    def metric_disputes(
        self, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
    ) -> tuple[DisputedReport, ...]:
        """Return the answers that two metrics put furthest apart, the furthest first."""

    def error_free_tallies(self, case_filter: CaseFilter) -> tuple[ErrorFreeTally, ...]:
        """Count the reports without errors, by reader, model and threshold.

        Readers in the set's order, then judges and those who are not named.
        """

    def comparisons(self, case_filter: CaseFilter) -> Comparisons:
        """Count pairwise preferences: of cases that are left, between models that are left."""
