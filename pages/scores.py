"""Scores: how good are the answers, per model and dimension? Every number opens its cases."""

import streamlit as st

from rexview.analysis import describe
from rexview.ui import browse_parts, overview_panels, resources, state
from rexview.ui.filter_panel import filter_panel
from rexview.ui.linked import linked_html
from rexview.ui.shell import open_review_set, page_header

review_set = open_review_set()
table = resources.answers(review_set)
case_filter = state.link_filter()
counts = resources.counts(table, case_filter)
numbers = resources.numbers(table, case_filter)

words = describe(table, case_filter)
page_header("Scores" if words == "All cases" else f"Scores: {words}")
filter_panel(case_filter, counts, set_name=resources.set_id(review_set.folder))

if not numbers.headline.cases.value:
    browse_parts.show_nothing_found(table, case_filter)
elif scores := overview_panels.scores_html(numbers):
    linked_html(scores, key="scores_means")
else:
    st.info("No answer has been scored yet.")
