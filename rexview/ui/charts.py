"""Charts on a page: a click on a mark opens its cases; tables and downloads are available."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from rexview.analysis.charts.export import FORMS, chart_file_name, export_chart
from rexview.analysis.charts.linked_chart import SELECTION, LinkedChart
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.chart_table import chart_table_html
from rexview.ui.tables.data_table import incomplete_scan_note, review_set_notice
from rexview.ui.web.access import permissions
from rexview.ui.web.link.in_app import go_to
from rexview.ui.web.link.pages import PAGE_BROWSE, PAGE_OVERVIEW
from rexview.words import tr


def show_chart(linked: LinkedChart, *, key: str) -> None:
    """Show a chart with its title and caption, and on demand its table and downloads.

    A click on a mark opens Browse with the mark's filter.

    The chart is made once for each filter (``functools.lru_cache``), not on every run. ``key``
    stays the same from run to run, and differs from those of the page's other charts.
    """
    with st.container(border=True, gap="small", height="stretch", key=f"rx_chart_{key}"):
        _chart(linked, key)


def show_charts_beside(charts: Sequence[LinkedChart], *, key: str, columns: int = 0) -> None:
    """Show charts side by side, in one row or with this many ``columns`` in each row."""
    per_row = columns or len(charts)
    for start in range(0, len(charts), per_row or 1):
        row = charts[start : start + per_row]
        for number, (chart, column) in enumerate(
            zip(row, st.columns(per_row, gap="small"), strict=False), start=start
        ):
            with column:
                show_chart(chart, key=f"{key}_{number}")


@st.fragment
def _chart(linked: LinkedChart, key: str) -> None:
    """Run alone when the chart is clicked or its table opened: the page is unchanged then."""
    permissions.guard(PAGE_OVERVIEW)  # every page with charts is for the same roles
    st.markdown(f"**{as_markdown(linked.title)}**")
    event = st.vega_lite_chart(
        spec=linked.spec, key=key, on_select="rerun", selection_mode=SELECTION, width="stretch"
    )
    if linked.caption:
        st.caption(as_markdown(linked.caption))
    box = st.expander(tr("Table and download"), key=f"{key}_table", on_change="rerun")
    if box.open:
        with box:
            _table(linked, key)
    chosen = linked.chosen(event["selection"])
    if chosen is not None:
        go_to(PAGE_BROWSE, chosen)


def _table(linked: LinkedChart, key: str) -> None:
    st.html(chart_table_html(linked.table))
    notice, words = review_set_notice(), incomplete_scan_note()
    with st.container(horizontal=True, gap="small"):
        for form, (name, media) in FORMS.items():
            st.download_button(
                name,
                partial(
                    export_chart, linked, form, notice, so_far=words
                ),  # made when it is clicked
                chart_file_name(linked, form),
                media,
                key=f"{key}_{form}",
                on_click="ignore",
                icon=":material/download:",
                help=tr("Download as {name}").format(name=name),
            )
