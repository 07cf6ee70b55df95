"""Charts on a page: a click on a mark opens its cases, and the table behind it is at hand."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from rexview.analysis import AnswerTable, CaseFilter, model_colours
from rexview.analysis.charts import SELECTION, LinkedChart, overview_charts
from rexview.ui import resources, state
from rexview.ui.linked import go_to


@lru_cache(maxsize=16)
def _charts(table: AnswerTable, case_filter: CaseFilter) -> tuple[LinkedChart, ...]:
    return overview_charts(resources.numbers(table, case_filter), model_colours(table.models))


def show_charts(table: AnswerTable, case_filter: CaseFilter) -> bool:
    """Show the charts of the Overview side by side; False when there is nothing to draw."""
    charts = _charts(table, case_filter)
    if charts:
        for place, column in enumerate(st.columns(len(charts), gap="small")):
            with column:
                _show(charts[place], key=f"overview_chart_{place}")
    return bool(charts)


def _show(linked: LinkedChart, *, key: str) -> None:
    """Show one chart with its title; a click on a mark goes to Browse with its filter."""
    with st.container(border=True, gap="small", height="stretch"):
        st.markdown(f"**{linked.title}**")
        event = st.vega_lite_chart(
            spec=linked.spec, key=key, on_select="rerun", selection_mode=SELECTION, width="stretch"
        )
        with st.expander("Table"):
            st.dataframe(linked.table, hide_index=True, key=f"{key}_table")
    chosen = linked.chosen(event["selection"])
    if chosen is not None:
        go_to(state.PAGE_BROWSE, state.link_query(chosen))
