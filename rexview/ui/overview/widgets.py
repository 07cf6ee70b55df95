"""The charts of the Overview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from rexview.analysis import CaseFilter, Engine, model_colours
from rexview.analysis.overview import self_contradictions
from rexview.detect.self_contradiction import compare_ahead
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.link.in_app import linked_html
from rexview.ui.link.pages import PAGE_OVERVIEW
from rexview.ui.overview import html as overview_html
from rexview.ui.server import query_cache
from rexview.ui.server.kept_with import kept_with_first
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.analysis.charts.linked import LinkedChart


_LOOK_AGAIN_S: Final = 2.0


@kept_with_first(16)
def _charts(engine: Engine, case_filter: CaseFilter) -> tuple[LinkedChart, ...]:
    from rexview.analysis.charts.overview import overview_charts

    return overview_charts(
        query_cache.numbers(engine, case_filter), model_colours(engine.facts.models)
    )


_contradictions = kept_with_first(16)(self_contradictions)


def show_self_contradiction(review_set: ReviewSet, engine: Engine, case_filter: CaseFilter) -> None:
    """Show how often models contradict themselves; nothing where nothing was asked again."""
    if not compare_ahead(review_set):
        _wait_for_comparison(review_set)
    elif rows := _contradictions(engine, case_filter):
        drawn = overview_html.self_contradiction_html(rows, engine.facts.models)
        linked_html(drawn, key="overview_again")


@st.fragment(run_every=_LOOK_AGAIN_S)
def _wait_for_comparison(review_set: ReviewSet) -> None:
    permissions.guard(PAGE_OVERVIEW)
    if compare_ahead(review_set):
        st.rerun()
    st.caption(tr("Answers to what was asked more than once are being compared."))


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
