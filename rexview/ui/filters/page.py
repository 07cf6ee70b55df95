"""What every page with the filter panel begins with."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from rexview.analysis import CaseFilter, Engine, Facets, Scanned
from rexview.analysis.failures import name_so_far, rests_on_flags, so_far_caption
from rexview.schema import ReviewSet
from rexview.ui.app.shell import open_review_set, page_header
from rexview.ui.export.widgets import offer_filtered
from rexview.ui.filters.of_link import asked_filter
from rexview.ui.filters.panel import filter_panel, show_nothing_found
from rexview.ui.judge import widgets as judge_widgets
from rexview.ui.link import keys as link_keys
from rexview.ui.scan_progress.strip import show_progress
from rexview.ui.server import query_cache, review_sets


class FilteredSet(NamedTuple):
    """The review set of the link under the link's filter, with the counts of the panel.

    ``scanned`` says of how many of the answers that the filter is about the flags are known,
    ``of_flags`` whether the page's numbers rest on them.
    """

    review_set: ReviewSet
    engine: Engine
    case_filter: CaseFilter
    counts: Facets
    scanned: Scanned
    of_flags: bool

    @property
    def so_far(self) -> bool:
        """Whether flags of some of these answers are not known yet."""
        return not self.scanned.is_complete


def open_filtered_set(*, counts_failures: bool = False) -> FilteredSet:
    """Open the review set of the link under its filter; where that cannot be, explain and stop.

    ``counts_failures`` says that the page's numbers are of failures whatever the filter asks for:
    what leaves the page then says that they are so far.
    """
    review_set = open_review_set()
    case_filter = asked_filter()
    engine = review_sets.engine(review_set)
    scanned = engine.scanned(case_filter)
    of_flags = counts_failures or rests_on_flags(case_filter)
    st.session_state[link_keys.SESSION_SO_FAR] = so_far_caption(scanned) if of_flags else ""
    counts = query_cache.counts(engine, case_filter)
    return FilteredSet(review_set, engine, case_filter, counts, scanned, of_flags)


def show_panel(filtered: FilteredSet) -> None:
    """Show the filter panel of a page."""
    set_name = review_sets.set_id(filtered.review_set.folder)
    filter_panel(filtered.case_filter, filtered.counts, set_name=set_name, so_far=filtered.so_far)


def show_title(filtered: FilteredSet, title: str = "") -> None:
    """Show the title with the filter's name.

    Below it stands how far the search for failures is, where the page's numbers rest on that.
    """
    name = name_so_far(filtered.engine, filtered.case_filter)
    with st.container(horizontal=True, vertical_alignment="center", key="rx_title_row"):
        page_header(*(part for part in (title, name) if part))
        if filtered.counts.total:
            offer_filtered(filtered.review_set, filtered.case_filter, filtered.counts.total)
    judge_widgets.show_filter_agreement(filtered.engine, filtered.case_filter)
    if filtered.of_flags:
        show_progress(filtered.review_set, filtered.engine, filtered.case_filter)


def show_head(filtered: FilteredSet, title: str) -> None:
    """Show title and filter panel; where the filter leaves no case, say so and stop."""
    show_title(filtered, title)
    show_panel(filtered)
    if not filtered.counts.total:
        show_nothing_found(filtered.engine, filtered.counts, filtered.case_filter)
        st.stop()
