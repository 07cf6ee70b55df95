"""What the engine on ClickHouse answers of generated reports: :class:`.ReportQuestions`.

What readers wrote of reports is in memory. Values of metrics are fetched for the metrics that are
asked about, each time: means by patient and ranks of answers need them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.clickhouse.parts import Parts
from rexview.analysis.filter.case_filter import CaseFilter
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
from rexview.stats.generated_reports.line_edits import ErrorFreeTally
from rexview.stats.generated_reports.spread import Spread
from rexview.stats.generated_reports.values import ReportValues

_ROWS: Final = (
    "ARRAY JOIN model AS x_model, answered AS x_answered, met AS x_met, metric_values AS x_values"
)


class ReportTallies(Parts):
    """Counts what is said of reports that a filter leaves; part of the engine."""

    def report_counts(self, case_filter: CaseFilter) -> ReportCounts:
        """Count what there is."""
        left, reviewed = self.conditions(case_filter), self.reviewed.report_counts(case_filter)
        cases = self.n_of(left.from_left(), left, "question_type = 'report'")
        answers = self.ask(
            f"SELECT toInt64(x_model) AS who, toInt64(count()) AS n FROM {left.from_left()} "
            f"{_ROWS} WHERE x_met AND x_answered AND question_type = 'report' GROUP BY who",
            left.parameters,
        )
        counts = {self.opened.manifest.models[model]: n for model, n in answers.iter_rows()}
        both = {
            model: counts.get(model, 0) + reviewed.answers.get(model, 0)
            for model in self.opened.manifest.models
        }
        metrics = {*self._metrics_met(case_filter), *reviewed.metrics}
        ids = sorted(metrics, key=known_first)
        in_set = {one: self.opened.manifest.metrics.index(one) for one in ids}
        return ReportCounts(
            cases=cases + reviewed.cases,
            answers={model: n for model, n in both.items() if n},
            metrics=tuple(ids),
            in_set={one: self.opened.manifest.metrics_in_set[at][0] for one, at in in_set.items()},
            together={
                one: tuple(self.opened.manifest.metrics_in_set[at][1]) for one, at in in_set.items()
            },
            edits=reviewed.edits,
            preferences=reviewed.preferences,
            people=reviewed.people,
        )

    def _metrics_met(self, case_filter: CaseFilter) -> set[MetricId]:
        """Return the metrics of which an answer on ClickHouse has a value."""
        left, n = self.conditions(case_filter), len(self.opened.manifest.metrics)
        if not n:
            return set()
        found = self.ask(
            "SELECT maxForEach(arrayMap(v -> toUInt8(NOT isNaN(v)), x_values)) AS has "
            f"FROM {left.from_left()} {_ROWS} WHERE x_met AND x_answered",
            left.parameters,
        )
        met = found["has"].to_list()[0]
        return {one for one, has in zip(self.opened.manifest.metrics, met, strict=False) if has}

    def _metric_values(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> ReportValues:
        """Return the values of some metrics of both parts, patients as in the whole set.

        The number of an answer is that of its case times the number of models, and its model.
        """
        known = [one for one in metrics if one in self.opened.manifest.metrics]
        parts = [self._metric_values_in_memory(case_filter, known)]
        parts += [self._metric_values_of(case_filter, known)] if known else []
        rows = pl.concat(parts)
        models = self.opened.manifest.models
        return ReportValues(
            metrics=tuple(metrics),
            models=models,
            number=(rows["at"] * len(models) + rows["who"]).to_numpy(),
            metric=rows["metric"].to_numpy(),
            model=rows["who"].to_numpy(),
            patient=rows["cluster"].to_numpy(),
            value=rows["value"].to_numpy(),
            together=np.zeros(len(rows), dtype=np.int64),
        )

    def _metric_values_of(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> pl.DataFrame:
        left = self.conditions(case_filter)
        values = ", ".join(
            f"({place}, x_values[{self.opened.manifest.metrics.index(one) + 1}])"
            for place, one in enumerate(metrics)
        )
        return self.ask(
            "SELECT toInt64(case_row) AS at, toInt64(x_model) AS who, "
            "toInt64(patient) AS cluster, toInt64(given.1) AS metric, given.2 AS value "
            f"FROM {left.from_left()} {_ROWS} ARRAY JOIN [{values}] AS given "
            "WHERE x_met AND x_answered AND NOT isNaN(given.2) ORDER BY metric, at, who",
            left.parameters,
        )

    def _metric_values_in_memory(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> pl.DataFrame:
        given = self.reviewed.metric_values_left(case_filter)
        newest = self.reviewed.table.columns.newest
        parts = [
            pl.DataFrame(
                [],
                schema={
                    **dict.fromkeys(("at", "who", "cluster", "metric"), pl.Int64()),
                    "value": pl.Float64(),
                },
            )
        ]
        places = np.array(
            [self.opened.manifest.models.index(one) for one in given.models], dtype=np.int64
        )
        for metric, one in enumerate(metrics):
            if one not in given.metrics:
                continue
            own = given.of(one)
            cases = newest.case[own.number]
            parts.append(
                pl.DataFrame(
                    {
                        "at": self.small.case_rows[cases],
                        "who": places[own.model],
                        "cluster": self.small.patients[cases],
                        "metric": np.full(len(own), metric, dtype=np.int64),
                        "value": own.value,
                    }
                )
            )
        return pl.concat(parts)

    def metric_tally(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> MetricTally:
        """Sum the values of some metrics by patient."""
        return metric_tally_of(self._metric_values(case_filter, metrics), metrics)

    def metric_spreads(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> dict[tuple[MetricId, str], Spread]:
        """Say how the values of some metrics spread."""
        return spreads_of(self._metric_values(case_filter, metrics), metrics)

    def metric_correlations(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId], coefficient: str
    ) -> tuple[Correlation, ...]:
        """Correlate every two of some metrics over answers."""
        return correlations_of(self._metric_values(case_filter, metrics), metrics, coefficient)

    def metric_disputes(
        self, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
    ) -> tuple[DisputedReport, ...]:
        """Return the answers that two metrics put furthest apart."""
        numbers, said = furthest_apart(self._metric_values(case_filter, pair), pair, most)
        rows, models = np.divmod(numbers, len(self.opened.manifest.models))
        ids = self._ids_of(rows.tolist())
        return tuple(
            DisputedReport(ids[row], self.opened.manifest.models[model], *given)
            for row, model, given in zip(rows.tolist(), models.tolist(), said.tolist(), strict=True)
        )

    def _ids_of(self, case_rows: list[int]) -> dict[int, str]:
        """Return the ids of some cases by their place in the files."""
        own = self.small.case_rows.tolist()
        found = dict(zip(own, self.small.records["id"], strict=True))
        others = [row for row in case_rows if row not in found]
        if others:
            every = self.conditions(CaseFilter())
            rows = every.parameter(others, "Array(UInt32)")
            named = self.ask(
                f"SELECT toInt64(case_row) AS case_row, id FROM {every.source} "
                f"WHERE has({rows}, case_row)",
                every.parameters,
            )
            found |= dict(named.iter_rows())
        return found

    def error_free_tallies(self, case_filter: CaseFilter) -> tuple[ErrorFreeTally, ...]:
        """Count the reports without errors: all that were gone over are in memory."""
        return self.reviewed.error_free_tallies(case_filter)

    def comparisons(self, case_filter: CaseFilter) -> Comparisons:
        """Count pairwise preferences: all cases with any are in memory."""
        return self.reviewed.comparisons(case_filter)
