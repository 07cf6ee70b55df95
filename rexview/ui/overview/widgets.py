"""The charts of the Overview."""

from __future__ import annotations

from functools import lru_cache

from rexview.analysis import AnswerTable, CaseFilter, model_colours
from rexview.analysis.charts import LinkedChart, overview_charts
from rexview.analysis.charts.overview import SIDE_BY_SIDE
from rexview.ui.charts.panel import show_charts_beside
from rexview.ui.server import query_cache


@lru_cache(maxsize=16)
def _charts(table: AnswerTable, case_filter: CaseFilter) -> tuple[LinkedChart, ...]:
    return overview_charts(query_cache.numbers(table, case_filter), model_colours(table.models))


def show_charts(table: AnswerTable, case_filter: CaseFilter) -> bool:
    """Show the charts of the Overview; False when there is nothing to draw."""
    charts = _charts(table, case_filter)
    if not charts:
        return False
    few = len(query_cache.numbers(table, case_filter).models) <= SIDE_BY_SIDE
    show_charts_beside(charts, key="overview_chart", columns=0 if few else 1)
    return True
