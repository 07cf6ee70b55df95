"""Widgets whose value the link keeps: a link shows a colleague the same choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.newest import change_link
from rexview.words import tr


def kept_in_link(
    key: str,
    query: str,
    shown: Any,
    written: Callable[[Any], str | list[str] | None],
    *,
    lists: bool = False,
) -> dict[str, Any]:
    """Let the link keep the value of a widget; return what to hand to it.

    Parameters
    ----------
    key, query : str
        Of the widget in the session, and of its value in the link.
    shown : object
        The value of the link, as the widget takes it.
    written : callable
        Turns a value of the widget into that of the link, None for the usual one.
    lists : bool
        Whether it decides what the page lists: the list begins anew then.
    """
    st.session_state[key] = shown

    def changed() -> None:
        link_keys.set_query(
            {
                query: written(st.session_state[key]),
                **({link_keys.QUERY_PAGE: None} if lists else {}),
            }
        )

    return {"key": key, "on_change": changed}


def option_kept_in_link(
    key: str, query: str, options: Collection[str], usual: str
) -> dict[str, Any]:
    """Let the link keep which of some options is chosen, as :func:`kept_in_link`."""
    asked = link_keys.query_value(query)
    shown = asked if asked in options else usual
    return kept_in_link(key, query, shown, lambda chosen: None if chosen == usual else chosen)


def open_view(views: Collection[str], usual: str) -> str:
    """Return which of a page's views the link names."""
    named = link_keys.query_value(link_keys.QUERY_VIEW)
    return named if named is not None and named in views else usual


def choose_view(page: str, views: Mapping[str, str], usual: str) -> str:
    """Offer the views of a page by their names; return the one that is open."""
    kept = option_kept_in_link(f"{page}_view", link_keys.QUERY_VIEW, views, usual)
    shown = st.segmented_control(
        tr("Shown"),
        list(views),
        format_func=views.__getitem__,
        required=True,
        label_visibility="collapsed",
        **kept,
    )
    return str(shown)


def view_tabs(page: str, views: Mapping[str, str]) -> Sequence[Any]:
    """Offer the views of a page as tabs by their names, the first where the link names none."""
    first, *_ = views
    of_name = {name: view for view, name in views.items()}
    kept = kept_in_link(
        f"{page}_view",
        link_keys.QUERY_VIEW,
        views[open_view(views, first)],
        lambda name: None if of_name[name] == first else of_name[name],
    )
    return st.tabs(list(of_name), **kept)


def choose_page(total: int, size: int, key: str) -> None:
    """Offer the pages of a list that does not fit on one; the link keeps which is shown."""
    pages = math.ceil(total / size)
    if pages < 2:
        return
    current = link_keys.page_number(total, size) + 1
    key = f"{key}_{current}"

    def turned() -> None:
        page = st.session_state[key]
        change_link({link_keys.QUERY_PAGE: None if page == 1 else str(page)})

    st.pagination(pages, default=current, key=key, on_change=turned, width=380)


def published_shown(label: str, page: str) -> bool:
    """Offer the figures of the paper on a page; return whether they are wanted."""
    kept = kept_in_link(
        f"{page}_published",
        link_keys.QUERY_PUBLISHED,
        link_keys.query_value(link_keys.QUERY_PUBLISHED) == "1",
        lambda chosen: "1" if chosen else None,
    )
    return st.toggle(as_markdown(label), **kept)
