"""What the memory engine answers of generated reports: :class:`.ReportQuestions`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.memory.selection import Selection
from rexview.analysis.memory.table import AnswerTable
from rexview.analysis.report_generation.engine import (
    Comparisons,
    DisputedReport,
    MetricTally,
    ReportCounts,
)
from rexview.analysis.report_generation.from_values import (
    correlations_of,
    furthest_apart,
    metric_tally_of,
    spreads_of,
)
from rexview.metrics.identity import MetricId, known_first
from rexview.stats.generated_reports.correlation import Correlation
from rexview.stats.generated_reports.line_edits import (
    ErrorFreeTally,
    edited_reports,
    error_free_tallies,
)
from rexview.stats.generated_reports.preferences import comparisons_between, tally_preferences
from rexview.stats.generated_reports.spread import Spread
from rexview.stats.generated_reports.values import ReportValues

if TYPE_CHECKING:
    from collections.abc import Callable

_KEPT: Final = 4


class ReportTallies:
    """Counts what is said of reports that a filter leaves; part of the engine, which selects."""

    table: AnswerTable

    def selection(self, case_filter: CaseFilter) -> Selection:
        """Return what a filter leaves."""
        raise NotImplementedError

    @cached_property
    def _metric_values_left(self) -> Callable[[CaseFilter], ReportValues]:
        def left(case_filter: CaseFilter) -> ReportValues:
            return self.table.metrics.of_answers(self.selection(case_filter).answer_mask)

        return lru_cache(_KEPT)(left)

    def metric_values_left(self, case_filter: CaseFilter) -> ReportValues:
        """Return the values of metrics that a filter leaves."""
        return self._metric_values_left(case_filter)

    def report_counts(self, case_filter: CaseFilter) -> ReportCounts:
        """Count what there is."""
        found, columns = self.selection(case_filter), self.table.columns
        is_report = columns.case_codes["question_type"].among(["report"])
        cases = found.case_mask & is_report
        left = found.answer_mask & is_report[columns.newest.case]
        models = columns.model.values
        answers = np.bincount(columns.newest.model[left], minlength=len(models)).tolist()
        values, in_set = self._metric_values_left(case_filter), self.table.metrics
        ids = sorted((MetricId(*one) for one in values.met()), key=known_first)
        together = {one: np.unique(in_set.of(one).together) for one in ids}
        edited = self._edited_reports
        return ReportCounts(
            cases=int(cases.sum()),
            answers={model: n for model, n in zip(models, answers, strict=True) if n},
            metrics=tuple(ids),
            in_set={one: len(in_set.of(one)) for one in ids},
            together={one: tuple(n[n > 0].tolist()) for one, n in together.items()},
            edits=edited.filter(pl.Series(found.answer_mask[edited["number"]]))[
                "number"
            ].n_unique(),
            preferences=self._preferences_left(found).height,
            people=frozenset(
                model.id for model in self.table.review_set.models if model.kind == "reader"
            ),
        )

    def metric_tally(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> MetricTally:
        """Sum the values of some metrics by patient."""
        return metric_tally_of(self._metric_values_left(case_filter), metrics)

    def metric_spreads(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> dict[tuple[MetricId, str], Spread]:
        """Say how the values of some metrics spread."""
        return spreads_of(self._metric_values_left(case_filter), metrics)

    def metric_correlations(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId], coefficient: str
    ) -> tuple[Correlation, ...]:
        """Correlate every two of some metrics over answers."""
        return correlations_of(self._metric_values_left(case_filter), metrics, coefficient)

    def metric_disputes(
        self, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
    ) -> tuple[DisputedReport, ...]:
        """Return the answers that two metrics put furthest apart."""
        numbers, said = furthest_apart(self._metric_values_left(case_filter), pair, most)
        newest, review_set = self.table.columns.newest, self.table.review_set
        cases = review_set.cases["id"].gather(newest.case[numbers])
        models = [review_set.models[place].id for place in newest.model[numbers]]
        return tuple(
            DisputedReport(case, model, *given)
            for case, model, given in zip(cases, models, said.tolist(), strict=True)
        )

    @cached_property
    def _edited_reports(self) -> pl.DataFrame:
        return edited_reports(self.table.review_set, self.table.columns.cluster)

    def error_free_tallies(self, case_filter: CaseFilter) -> tuple[ErrorFreeTally, ...]:
        """Count the reports without errors."""
        edited = self._edited_reports
        left = edited.filter(pl.Series(self.selection(case_filter).answer_mask[edited["number"]]))
        readers = list(self.table.review_set.reader_names)
        return error_free_tallies(left, readers, self.table.columns.model.values)

    def _preferences_left(self, found: Selection) -> pl.DataFrame:
        """Return the comparisons between answers that are left."""
        return comparisons_between(self.table.review_set, found.answer_mask)

    def comparisons(self, case_filter: CaseFilter) -> Comparisons:
        """Count pairwise preferences."""
        left = self._preferences_left(self.selection(case_filter))
        met = {*left["first"], *left["second"]}
        models = tuple(model for model in self.table.columns.model.values if model in met)
        tally = tally_preferences(left, models)
        return Comparisons(models, tally, len(tally.wins), left["reader"].n_unique())
