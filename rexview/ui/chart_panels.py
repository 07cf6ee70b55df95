"""Charts on a page: a click on a mark opens its cases, and the table behind it is at hand."""

from __future__ import annotations

import streamlit as st

from rexview.analysis import CaseFilter
from rexview.analysis.charts import SELECTION, LinkedChart
from rexview.ui import state


def show_chart(linked: LinkedChart, *, key: str) -> None:
    """Show one chart with its title; a click on a mark goes to Browse with its filter."""
    with st.container(border=True, gap="small"):
        st.markdown(f"**{linked.title}**")
        event = st.altair_chart(
            linked.chart, key=key, on_select="rerun", selection_mode=SELECTION, width="stretch"
        )
        with st.expander("Table"):
            st.dataframe(linked.table, hide_index=True, key=f"{key}_table")
    chosen = linked.chosen(event["selection"])
    if chosen is not None:
        open_cases(chosen)


def open_cases(case_filter: CaseFilter) -> None:
    """Go to Browse with a filter."""
    st.switch_page(state.PAGE_BROWSE, query_params=state.link_query(case_filter))
