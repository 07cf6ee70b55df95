"""Report generation: how good are the reports, by which metric? Every number opens its answers."""

import streamlit as st

from rexview.ui.filter_panel import open_filtered_set, show_head
from rexview.ui.report_generation import board_widgets as report_widgets
from rexview.ui.report_generation import metric_boards as report_html
from rexview.ui.scan_progress.progress_strip import show_metrics_progress
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.pages import PAGE_DATA, PAGE_REPORT_GENERATION, PAGE_RUN_MODELS
from rexview.ui.web.server import query_cache
from rexview.words import tr

permissions.guard(PAGE_REPORT_GENERATION)
filtered = open_filtered_set()
engine, case_filter = filtered.engine, filtered.case_filter
show_head(filtered, tr("Report generation"))

with st.spinner(tr("Computing means and intervals…")):
    tables = query_cache.reports(engine, case_filter, scope=report_widgets.link_scope())
if not tables.has_any:
    show_nothing_yet(
        tr("No case here asks for a report, and none of the answers has a metric."),
        (PAGE_DATA, tr("Bring in reports")),
        (PAGE_RUN_MODELS, tr("Have a model write reports")),
    )
    report_widgets.show_published(tables, None, on_demand=False)
    st.stop()

show_metrics_progress(filtered.review_set)
linked_html(report_html.headline_html(tables), key="reports_headline")
report_widgets.show_progress(filtered.review_set)
metric = report_widgets.show_board(engine, tables)
if metric is not None:
    report_widgets.show_groups(engine, case_filter, tables, metric)
    report_widgets.show_spreads(engine, case_filter, tables)
    report_widgets.show_metrics_compared(engine, case_filter, tables)
report_widgets.show_error_free(engine, case_filter, tables)
report_widgets.show_preferences(engine, case_filter, tables)
report_widgets.show_published(tables, metric)
