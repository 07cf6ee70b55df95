"""Scores: how good is each model per dimension? Every number opens the answers behind it."""

import streamlit as st

from rexview.analysis import describe
from rexview.ui import (
    browse_parts,
    filtered,
    people,
    resources,
    score_panels,
    score_sections,
    state,
)
from rexview.ui.content_order import content_order_switch
from rexview.ui.filter_panel import filter_panel
from rexview.ui.linked import linked_html
from rexview.ui.shell import open_review_set, page_header

people.guard(state.PAGE_SCORES)
review_set = open_review_set()
table = resources.answers(review_set)
case_filter = state.link_filter()
counts = filtered.counts(table, case_filter)

words = describe(table, case_filter)
page_header("Scores" if words == "All cases" else f"Scores: {words}")
filter_panel(case_filter, counts, set_name=resources.set_id(review_set.folder))

if not counts.total:
    browse_parts.show_nothing_found(table, case_filter)
    st.stop()

with st.spinner("Working out means and intervals…"):
    tables = filtered.scores(review_set, table, case_filter)
headline = score_panels.headline_html(tables)
linked_html(headline, key="scores_headline")

if not tables.models:
    st.info(
        "No model has answered these cases yet. Add answers and readers' scores to the review set, "
        "as FORMAT.md describes, then reload the Data page."
    )
    st.stop()

if tables.dimensions:
    content_order_switch()
    score_sections.show_tables(tables, table)
    score_sections.show_charts(tables, table)
    score_sections.show_split(review_set, table, case_filter, tables)
else:
    st.info(
        "None of these answers has a score. Scores are read from scores.csv in the review set: one "
        "row for each case, model, reader and dimension. With a filter, widen it."
    )
score_sections.show_lost(tables, table)
if tables.dimensions:
    score_sections.show_published(tables)
