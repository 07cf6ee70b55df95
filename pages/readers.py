"""Readers: how far do the readers agree? Every number opens its cases."""

import streamlit as st

from rexview.analysis import describe
from rexview.ui import resources, state
from rexview.ui.filter_panel import filter_panel
from rexview.ui.shell import open_review_set, page_header
from rexview.ui.text import as_markdown

review_set = open_review_set()
table = resources.answers(review_set)
case_filter = state.link_filter()
counts = resources.counts(table, case_filter)

words = describe(table, case_filter)
page_header("Readers" if words == "All cases" else f"Readers: {words}")
filter_panel(case_filter, counts, set_name=resources.set_id(review_set.folder))

readers = list(review_set.reader_names.values())
if readers:
    st.markdown(as_markdown("Readers: " + ", ".join(readers)))
else:
    st.info("No reader has scored an answer yet.")
