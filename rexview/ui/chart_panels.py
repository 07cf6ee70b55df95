"""Charts on a page: a click on a mark opens its cases, and the table behind it is at hand."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from rexview.analysis import AnswerTable, CaseFilter, model_colours
from rexview.analysis.charts import SELECTION, LinkedChart, overview_charts
from rexview.ui import resources, state
from rexview.ui.linked import go_to
from rexview.ui.text import as_markdown


@lru_cache(maxsize=16)
def _charts(table: AnswerTable, case_filter: CaseFilter) -> tuple[LinkedChart, ...]:
    return overview_charts(resources.numbers(table, case_filter), model_colours(table.models))


def show_charts(table: AnswerTable, case_filter: CaseFilter) -> bool:
    """Show the charts of the Overview side by side; False when there is nothing to draw."""
    charts = _charts(table, case_filter)
    if charts:
        for place, column in enumerate(st.columns(len(charts), gap="small")):
            with column:
                show_chart(charts[place], key=f"overview_chart_{place}")
    return bool(charts)


def show_chart(linked: LinkedChart, *, key: str) -> None:
    """Show a chart with its title, its caption and its table; a click on a mark opens Browse.

    Parameters
    ----------
    linked : LinkedChart
        Made once for each filter (``functools.lru_cache``), not on every run.
    key : str
        Keep it the same from run to run, and unlike those of the page's other charts.
    """
    with st.container(border=True, gap="small", height="stretch"):
        st.markdown(f"**{as_markdown(linked.title)}**")
        event = st.vega_lite_chart(
            spec=linked.spec, key=key, on_select="rerun", selection_mode=SELECTION, width="stretch"
        )
        if linked.caption:
            st.caption(as_markdown(linked.caption))
        with st.expander("Table"):
            st.dataframe(linked.table, hide_index=True, key=f"{key}_table")
    chosen = linked.chosen(event["selection"])
    if chosen is not None:
        go_to(state.PAGE_BROWSE, state.link_query(chosen))
