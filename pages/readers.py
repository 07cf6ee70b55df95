"""Readers: do the readers agree? Every number opens its answers."""

import streamlit as st

from rexview.ui.filter_panel import open_filtered_set, show_head
from rexview.ui.judge import judge_opinions as judge_widgets
from rexview.ui.judge.judge_opinions import choose_judge
from rexview.ui.readers import reader_agreement as readers_html
from rexview.ui.readers import reader_agreement as readers_widgets
from rexview.ui.web.access import permissions
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.pages import PAGE_READERS
from rexview.ui.web.server import query_cache
from rexview.words import tr

permissions.guard(PAGE_READERS)
filtered = open_filtered_set()
review_set, engine, case_filter, *_ = filtered
show_head(filtered, tr("Readers"))

with st.spinner(tr("Comparing the readers…")):
    tables = query_cache.readers(engine, case_filter, pair=readers_widgets.link_pair())
if tables.readers:
    linked_html(readers_html.headline_html(tables), key="readers_headline")
judge = choose_judge(engine.facts)
if tables.pair is None:
    readers_widgets.show_nothing_to_compare(tables)
    judge_widgets.show_agreement(engine, case_filter, judge)
    st.stop()

several = readers_html.pairs_html(tables, case_filter) + readers_html.alphas_html(tables)
if several:
    linked_html(several, key="readers_several")
readers_widgets.choose_pair(tables)
linked_html(readers_html.agreement_html(tables), key="readers_agreement")
readers_widgets.show_table_download(tables)
readers_widgets.show_published(tables)
judge_widgets.show_agreement(engine, case_filter, judge)

st.markdown(f"## {tr('Where the scores differ')}")
readers_widgets.show_maps(tables)
dimension = readers_widgets.choose_dimension(tables)
if dimension:
    readers_widgets.show_pair_charts(tables, dimension)
    drifts = query_cache.reader_drifts(engine, case_filter, tables.pair, dimension)
    readers_widgets.show_drift(drifts, dimension)

st.markdown(f"## {tr('To adjudicate, largest difference first')}")
threshold = readers_widgets.choose_threshold()
found = query_cache.to_adjudicate(engine, case_filter, threshold)
readers_widgets.show_adjudication(review_set, found, engine.facts)
