"""Overview: what went wrong, how often, for which model? Every number opens its cases."""

import streamlit as st

from rexview.analysis import describe
from rexview.analysis.cards import case_cards
from rexview.ui import browse_parts, filtered, overview_panels, people, resources, state
from rexview.ui.chart_panels import show_charts
from rexview.ui.content_order import content_order_words, show_other_order
from rexview.ui.filter_panel import filter_panel
from rexview.ui.gallery import gallery_html
from rexview.ui.linked import link, linked_html
from rexview.ui.shell import open_review_set, page_header

MOST_SEVERE = 4

people.guard(state.PAGE_OVERVIEW)
review_set = open_review_set()
table = resources.answers(review_set)
colours = resources.colours(review_set)
case_filter = state.link_filter()
counts = filtered.counts(table, case_filter)
numbers = filtered.numbers(table, case_filter)
selection = filtered.selection(table, case_filter)

words = describe(table, case_filter)
page_header(review_set.info.name if words == "All cases" else f"{review_set.info.name}: {words}")
filter_panel(case_filter, counts, set_name=resources.set_id(review_set.folder))

if not len(selection):
    browse_parts.show_nothing_found(table, case_filter)
    st.stop()

panels = overview_panels.headline_html(numbers) + overview_panels.failures_html(numbers)
linked_html(panels, key="overview_head")
show_other_order()
if others := overview_panels.other_failures_html(numbers):
    linked_html(others, key="overview_others")

worst = case_cards(review_set, selection, selection.part(0, MOST_SEVERE))
drawn = gallery_html(
    review_set, worst, case_filter, colours=colours, gap_threshold=table.gap_threshold
)
more = link(state.PAGE_BROWSE, case_filter, f"All {len(selection):,} cases")
head = f'<header class="rx-section"><h2>Most severe first</h2>{more}</header>'
linked_html(head + drawn, key="overview_worst")

if show_charts(table, case_filter):
    scores = overview_panels.scores_html(numbers, content_order_words())
    linked_html(scores, key="overview_scores")
else:
    st.info("No answer has been scored yet, so there are no scores to draw.")
