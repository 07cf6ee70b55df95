"""The numbers of each page, computed once for each filter.

They are stored with the engine (there is one for each state of the set, its reviews, and the known
flags), by filter and the other parameters of the numbers.
"""

from __future__ import annotations

from rexview.analysis import failures as failures_tables
from rexview.analysis import multiple_choice as choice_tables
from rexview.analysis import readers as readers_tables
from rexview.analysis import report_generation as report_tables
from rexview.analysis.adjudication import build_adjudication
from rexview.analysis.judges import build_judge_tables
from rexview.analysis.overview import build_overview
from rexview.analysis.query.engine import Engine, Facets, RankDisputedReport
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.scores import build_score_split, build_score_tables
from rexview.metrics.identity import MetricId
from rexview.stats.metric_correlation import Correlation
from rexview.ui.web.server.shared_work import cache_on_first_argument


@cache_on_first_argument(16)
def counts(engine: Engine, case_filter: CaseFilter) -> Facets:
    """Return the counts of the values of a filter's conditions."""
    return engine.facets(case_filter)


numbers = cache_on_first_argument(16)(build_overview)
scores = cache_on_first_argument(16)(build_score_tables)  # intervals take a moment
split = cache_on_first_argument(16)(build_score_split)
failures = cache_on_first_argument(16)(failures_tables.build_failure_tables)
failure_groups = cache_on_first_argument(16)(failures_tables.build_failure_groups)
choices = cache_on_first_argument(16)(choice_tables.build_choice_tables)
choice_groups = cache_on_first_argument(16)(choice_tables.build_choice_groups)
choice_read = cache_on_first_argument(16)(choice_tables.list_read_question_cells)
choice_comparisons = cache_on_first_argument(16)(choice_tables.compare_raters)
choice_kappa = cache_on_first_argument(16)(choice_tables.build_kappa_map)
readers = cache_on_first_argument(16)(readers_tables.build_reader_tables)
reader_drifts = cache_on_first_argument(16)(readers_tables.measure_reader_drifts)
to_adjudicate = cache_on_first_argument(8)(build_adjudication)
reports = cache_on_first_argument(16)(report_tables.build_report_tables)
report_groups = cache_on_first_argument(16)(report_tables.build_report_groups)
report_spreads = cache_on_first_argument(8)(report_tables.summarise_report_metrics)
error_free = cache_on_first_argument(16)(report_tables.build_error_free_tables)
preferences = cache_on_first_argument(16)(report_tables.build_preference_tables)
judged = cache_on_first_argument(16)(build_judge_tables)


@cache_on_first_argument(16)
def metric_correlations(
    engine: Engine, case_filter: CaseFilter, metrics: tuple[MetricId, ...], coefficient: str
) -> tuple[Correlation, ...]:
    """Return the correlation of every two metrics."""
    return engine.metric_correlations(case_filter, metrics, coefficient)


@cache_on_first_argument(16)
def metric_disputes(
    engine: Engine, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
) -> tuple[RankDisputedReport, ...]:
    """Return the answers on which two metrics differ most."""
    return engine.metric_disputes(case_filter, pair, most)
