"""Failures: how often each model fails, whether the difference is real, and on what."""

import streamlit as st

from rexview.analysis import describe
from rexview.ui import browse_parts, failure_sections, filtered, people, resources, state
from rexview.ui.filter_panel import filter_panel
from rexview.ui.shell import open_review_set, page_header

people.guard(state.PAGE_FAILURES)
review_set = open_review_set()
table = resources.answers(review_set)
case_filter = state.link_filter()
counts = filtered.counts(table, case_filter)

words = describe(table, case_filter)
page_header("Failures" if words == "All cases" else f"Failures: {words}")
filter_panel(case_filter, counts, set_name=resources.set_id(review_set.folder))

if not counts.total:
    browse_parts.show_nothing_found(table, case_filter)
    st.stop()

counted = failure_sections.choose_counted()
with st.spinner("Working out rates and intervals…"):
    tables = filtered.failures(review_set, table, case_filter, counted)
if not tables.models:
    st.info(
        "No model has answered these cases yet. Add answers to the review set, as FORMAT.md "
        "describes, then reload the Data page."
    )
    st.stop()

if case_filter.failures or case_filter.sources or case_filter.judged or case_filter.findings:
    st.caption("What the filter says about failures is left out here: all failures are counted.")
failure_sections.show_rates(tables, table)
failure_sections.show_groups(review_set, table, case_filter, tables)
