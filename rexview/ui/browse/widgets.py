"""The parts of Browse with widgets: order, cards or table, turning pages, empty states."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from rexview.analysis import SORTS, CaseFilter, Engine, Facets, search_words, unknown_values
from rexview.ui.filters.panel import set_filter
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import link, linked_html
from rexview.ui.link.newest import change_link, filter_asked

VIEWS: Final = {"cards": "Cards", "table": "Table"}
_ICONS: Final = {"cards": ":material/grid_view:", "table": ":material/table_rows:"}
PAGE_SIZE: Final = {"cards": 24, "table": 100}


def list_head(
    engine: Engine, total: int, case_filter: CaseFilter
) -> tuple[str, Sequence[str], int]:
    """Show how many cases there are (``total``), in which order and as what.

    Returns
    -------
    view : str
        A key of :data:`VIEWS`.
    case_ids : sequence of str
        The cases of this page.
    first : int
        Place of the first of them, counted from 0.
    """
    view = link_keys.query_value(link_keys.QUERY_VIEW) or "cards"
    view = view if view in VIEWS else "cards"
    size = PAGE_SIZE[view]
    first = _page_number(total, size) * size
    ids = engine.page(case_filter, first, size)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="rx_list_head"
    ):
        st.html(f'<p class="rx-count">{_range_text(total, first, len(ids))}</p>')
        st.session_state["browse_sort"] = case_filter.sort
        st.selectbox(
            "Order",
            list(SORTS),
            format_func=SORTS.__getitem__,
            key="browse_sort",
            on_change=_sort,
            label_visibility="collapsed",
            width=210,
        )
        st.session_state["browse_view"] = view
        st.segmented_control(
            "Show as",
            list(VIEWS),
            format_func=lambda name: f"{_ICONS[name]} {VIEWS[name]}",
            key="browse_view",
            required=True,
            on_change=_show_as,
            label_visibility="collapsed",
        )
    return view, ids, first


def show_search(case_filter: CaseFilter, counts: Facets) -> None:
    """Say above the cases how a finding is searched for, and lead to the other ways to search."""
    words = search_words(counts, case_filter.search)
    if not words:
        return
    others = [
        link(
            link_keys.PAGE_BROWSE,
            replace(case_filter, mention=value.value),
            f"{value.count:,} {html.escape(value.name.lower())}",
        )
        for value in counts.mentions
        if not value.chosen
    ]
    shown = f"{html.escape(words)} Other ways to search: {', '.join(others)}."
    linked_html(f'<p class="rx-searched" role="status">{shown}</p>', key="search_words")


def list_foot(total: int, first: int, shown: int) -> None:
    """Show the pages of a list that does not fit on one."""
    view = link_keys.query_value(link_keys.QUERY_VIEW) or "cards"
    size = PAGE_SIZE.get(view, PAGE_SIZE["cards"])
    pages = math.ceil(total / size)
    if pages < 2:
        return
    current = first // size + 1
    key = f"browse_page_{current}"
    with st.container(horizontal=True, vertical_alignment="center", key="rx_list_foot"):
        st.pagination(pages, default=current, key=key, on_change=_turn, args=(key,), width=380)
        st.html(f'<p class="rx-count">{_range_text(total, first, shown)}</p>')


def show_nothing_found(engine: Engine, counts: Facets, case_filter: CaseFilter) -> None:
    """Say why no case is left, and offer ways back."""
    unknown = unknown_values(counts, engine.facts, case_filter)
    reasons = [as_markdown(reason) for reason in unknown]
    st.info(" ".join(["No case fits all of these conditions.", *reasons]))
    with st.container(horizontal=True, gap="small"):
        if case_filter.words:
            rest = case_filter.without("search")
            st.button("Clear the search", on_click=set_filter, args=(rest,))
        st.button("Clear the filter", on_click=set_filter, args=(case_filter.cleared(),))


def _page_number(total: int, size: int) -> int:
    """Return the page that the link asks for, from 0, within those there are."""
    text = link_keys.query_value(link_keys.QUERY_PAGE) or "1"
    wanted = int(text) - 1 if text.isdecimal() and len(text) < 9 else 0
    return min(max(wanted, 0), max(math.ceil(total / size) - 1, 0))


def _range_text(total: int, first: int, shown: int) -> str:
    cases = "case" if total == 1 else "cases"
    if shown == total:
        return f"<b>{total:,}</b> {cases}"
    return f"<b>{first + 1:,}–{first + shown:,}</b> of {total:,} {cases}"


def _sort() -> None:
    set_filter(replace(filter_asked(), sort=st.session_state["browse_sort"]))


def _show_as() -> None:
    view = st.session_state["browse_view"]
    change_link(
        {link_keys.QUERY_VIEW: None if view == "cards" else view, link_keys.QUERY_PAGE: None}
    )


def _turn(key: str) -> None:
    page = st.session_state[key]
    change_link({link_keys.QUERY_PAGE: None if page == 1 else str(page)})
