"""Readers: do the readers agree? Every number opens its answers."""

import streamlit as st

from rexview.analysis import describe
from rexview.ui import (
    browse_parts,
    filtered,
    people,
    reader_panels,
    reader_sections,
    resources,
    state,
)
from rexview.ui.filter_panel import filter_panel
from rexview.ui.linked import linked_html
from rexview.ui.shell import open_review_set, page_header

people.guard(state.PAGE_READERS)
review_set = open_review_set()
table = resources.answers(review_set)
case_filter = state.link_filter()
counts = filtered.counts(table, case_filter)

words = describe(table, case_filter)
page_header("Readers" if words == "All cases" else f"Readers: {words}")
filter_panel(case_filter, counts, set_name=resources.set_id(review_set.folder))

if not counts.total:
    browse_parts.show_nothing_found(table, case_filter)
    st.stop()

with st.spinner("Comparing the readers…"):
    tables = filtered.readers(review_set, table, case_filter, reader_sections.wanted_pair())
if tables.readers:
    linked_html(reader_panels.headline_html(tables), key="readers_headline")
if tables.pair is None:
    reader_sections.show_nothing_to_compare(tables)
    st.stop()

several = reader_panels.pairs_html(tables, case_filter) + reader_panels.alphas_html(tables)
if several:
    linked_html(several, key="readers_several")
reader_sections.choose_pair(tables)
linked_html(reader_panels.agreement_html(tables), key="readers_agreement")
reader_sections.show_table_download(tables)
reader_sections.show_published(tables)

st.markdown("## Where the scores differ")
reader_sections.show_maps(tables)
dimension = reader_sections.choose_dimension(tables)
if dimension:
    reader_sections.show_pair_charts(tables, dimension)
    drifts = filtered.reader_drifts(review_set, table, case_filter, tables.pair, dimension)
    reader_sections.show_drift(drifts, dimension)

st.markdown("## To adjudicate, furthest apart first")
threshold = reader_sections.choose_threshold()
found = filtered.to_adjudicate(review_set, table, case_filter, threshold)
reader_sections.show_adjudication(review_set, found, table)
