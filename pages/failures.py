"""Failures: how often each model fails, whether the difference is real, and on what."""

import streamlit as st

from rexview.analysis import describe
from rexview.ui.access import permissions
from rexview.ui.app.shell import open_review_set, page_header
from rexview.ui.failures import widgets as failures_widgets
from rexview.ui.filters.panel import filter_panel, show_nothing_found
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_FAILURES
from rexview.ui.server import query_cache, review_sets

permissions.guard(PAGE_FAILURES)
review_set = open_review_set()
engine = review_sets.engine(review_set)
case_filter = link_keys.link_filter()
counts = query_cache.counts(engine, case_filter)

page_header("Failures", describe(engine.facts, case_filter))
filter_panel(case_filter, counts, set_name=review_sets.set_id(review_set.folder))

if not counts.total:
    show_nothing_found(engine, counts, case_filter)
    st.stop()

counted = failures_widgets.choose_counted()
with st.spinner("Working out rates and intervals…"):
    tables = query_cache.failures(engine, case_filter, counted=counted)
if not tables.models:
    st.info(
        "No model has answered these cases yet. Add answers to the review set, as FORMAT.md "
        "describes, then reload the Data page."
    )
    st.stop()

if case_filter.failures or case_filter.sources or case_filter.judged or case_filter.findings:
    st.caption("What the filter says about failures is left out here: all failures are counted.")
failures_widgets.show_rates(tables, engine.facts)
failures_widgets.show_groups(engine, case_filter, tables)
