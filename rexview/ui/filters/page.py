"""What every page with the filter panel begins with."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from rexview.analysis import CaseFilter, Engine, Facets, describe
from rexview.schema import ReviewSet
from rexview.ui.app.shell import open_review_set, page_header
from rexview.ui.filters.panel import filter_panel, show_nothing_found
from rexview.ui.link import keys as link_keys
from rexview.ui.server import query_cache, review_sets


class FilteredSet(NamedTuple):
    """The review set of the link under the link's filter, with the counts of the panel."""

    review_set: ReviewSet
    engine: Engine
    case_filter: CaseFilter
    counts: Facets


def open_filtered_set() -> FilteredSet:
    """Open the review set of the link under its filter; where that cannot be, explain and stop."""
    review_set = open_review_set()
    engine = review_sets.engine(review_set)
    case_filter = link_keys.link_filter()
    return FilteredSet(review_set, engine, case_filter, query_cache.counts(engine, case_filter))


def show_panel(filtered: FilteredSet) -> None:
    """Show the filter panel of a page."""
    set_name = review_sets.set_id(filtered.review_set.folder)
    filter_panel(filtered.case_filter, filtered.counts, set_name=set_name)


def show_head(filtered: FilteredSet, title: str) -> None:
    """Show title and filter panel; where the filter leaves no case, say so and stop."""
    page_header(title, describe(filtered.engine.facts, filtered.case_filter))
    show_panel(filtered)
    if not filtered.counts.total:
        show_nothing_found(filtered.engine, filtered.counts, filtered.case_filter)
        st.stop()
