"""The numbers of each page, worked out once for every filter.

They are kept with the engine (another one for each state of the set, of its reviews, and of the
flags that are known), by filter and whatever else the numbers depend on.
"""

from __future__ import annotations

from rexview.analysis import failures as failures_tables
from rexview.analysis import multiple_choice as choice_tables
from rexview.analysis import readers as readers_tables
from rexview.analysis import report_generation as report_tables
from rexview.analysis.adjudication import adjudication
from rexview.analysis.engine import DisputedReport, Engine, Facets
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.judges import judge_tables
from rexview.analysis.overview import overview
from rexview.analysis.scores import score_tables, split_scores
from rexview.metrics.identity import MetricId
from rexview.stats.metric_correlation import Correlation
from rexview.ui.server.kept_with import kept_with_first


@kept_with_first(16)
def counts(engine: Engine, case_filter: CaseFilter) -> Facets:
    """Return the counts beside the values of a filter."""
    return engine.facets(case_filter)


numbers = kept_with_first(16)(overview)
scores = kept_with_first(16)(score_tables)  # intervals take a moment
split = kept_with_first(16)(split_scores)
failures = kept_with_first(16)(failures_tables.failure_tables)
failure_groups = kept_with_first(16)(failures_tables.failure_groups)
choices = kept_with_first(16)(choice_tables.choice_tables)
choice_groups = kept_with_first(16)(choice_tables.choice_groups)
choice_read = kept_with_first(16)(choice_tables.on_read_questions)
choice_comparisons = kept_with_first(16)(choice_tables.comparisons)
choice_kappa = kept_with_first(16)(choice_tables.kappa_map)
readers = kept_with_first(16)(readers_tables.reader_tables)
reader_drifts = kept_with_first(16)(readers_tables.reader_drifts)
to_adjudicate = kept_with_first(8)(adjudication)
reports = kept_with_first(16)(report_tables.report_tables)
report_groups = kept_with_first(16)(report_tables.report_groups)
report_spreads = kept_with_first(8)(report_tables.report_spreads)
error_free = kept_with_first(16)(report_tables.error_free_tables)
preferences = kept_with_first(16)(report_tables.preference_tables)
judged = kept_with_first(16)(judge_tables)


@kept_with_first(16)
def metric_correlations(
    engine: Engine, case_filter: CaseFilter, metrics: tuple[MetricId, ...], coefficient: str
) -> tuple[Correlation, ...]:
    """Return how far every two metrics go together."""
    return engine.metric_correlations(case_filter, metrics, coefficient)


@kept_with_first(16)
def metric_disputes(
    engine: Engine, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
) -> tuple[DisputedReport, ...]:
    """Return the answers that two metrics put furthest apart."""
    return engine.metric_disputes(case_filter, pair, most)
