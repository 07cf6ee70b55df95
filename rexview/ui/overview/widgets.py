"""The charts of the Overview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rexview.analysis import CaseFilter, Engine, model_colours
from rexview.analysis.self_contradiction import SelfContradictions, self_contradictions
from rexview.ui.server import query_cache
from rexview.ui.server.kept_with import kept_with_first

if TYPE_CHECKING:
    from rexview.analysis.charts.linked import LinkedChart


@kept_with_first(16)
def _charts(engine: Engine, case_filter: CaseFilter) -> tuple[LinkedChart, ...]:
    from rexview.analysis.charts.overview import overview_charts

    return overview_charts(
        query_cache.numbers(engine, case_filter), model_colours(engine.facts.models)
    )


@kept_with_first(16)
def contradictions(engine: Engine, case_filter: CaseFilter) -> tuple[SelfContradictions, ...]:
    """Return how often models contradict themselves."""
    return self_contradictions(engine, case_filter)


def show_charts(engine: Engine, case_filter: CaseFilter) -> bool:
    """Show the charts of the Overview; False when there is nothing to draw.

    What draws charts is imported here: the page has shown its numbers and cases by then.
    """
    from rexview.analysis.charts.overview import SIDE_BY_SIDE
    from rexview.ui.charts.panel import show_charts_beside

    charts = _charts(engine, case_filter)
    if not charts:
        return False
    few = len(query_cache.numbers(engine, case_filter).models) <= SIDE_BY_SIDE
    show_charts_beside(charts, key="overview_chart", columns=0 if few else 1)
    return True
