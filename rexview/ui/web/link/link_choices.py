"""Choices that the link keeps, and the latest requested link until the browser has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from rexview.ui.safe_text import as_markdown
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.streamlit_adapter.script_run import RerunException
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.analysis import CaseFilter


# The latest requested link, while the browser does not have it yet.
#
# A callback changes the link, and the browser gets the new one with the response. An action before
# that, such as a click out of a field just typed in, sends the old link again and interrupts the
# run that would have responded. Without this memory the page would return to the old link, and the
# typed text would be lost. A finished run has informed the browser: from then on the browser's
# link counts, so that its back button works.

_KEY: Final = "rexview_link_asked"


@dataclass(frozen=True)
class _RequestedLink:
    """The requested values of a page's link by key, and the values before them.

    The browser may still send any of ``older``.
    """

    page: str
    wanted: Mapping[str, list[str]]
    older: Mapping[str, tuple[list[str], ...]]


def change_link(changes: Mapping[str, str | list[str] | None]) -> None:
    """Change some keys of the link, as :func:`.keys.set_query`: for callbacks of a page.

    Not for callbacks in fragments: only a run of the whole page sends the link to the browser.
    """
    apply_requested_link()
    asked = _requested()
    wanted, older = (dict(asked.wanted), dict(asked.older)) if asked else ({}, {})
    before = link_keys.query_lists()
    link_keys.set_query(changes)
    after = link_keys.query_lists()
    for key in changes:
        if after.get(key) != before.get(key):
            wanted[key] = after.get(key, [])
            older[key] = (*older.get(key, ()), before.get(key, []))
    st.session_state[_KEY] = _RequestedLink(link_keys.current_page(), wanted, older)


def requested_filter() -> CaseFilter:
    """Return the latest requested filter, which a callback changes in one condition."""
    from rexview.analysis import CaseFilter

    apply_requested_link()
    return CaseFilter.read(link_keys.query_lists())[0]


def apply_requested_link() -> None:
    """Replace outdated values in the browser's link by the latest requested ones."""
    asked, sent = _requested(), link_keys.query_lists()
    if asked is not None:
        late = [key for key, older in asked.older.items() if sent.get(key, []) in older]
        link_keys.set_query({key: asked.wanted[key] or None for key in late})


@contextmanager
def requested_link() -> Iterator[None]:
    """Run a page under the latest requested link; a finished run has informed the browser."""
    apply_requested_link()
    try:
        yield
    except RerunException:
        raise
    except BaseException:
        st.session_state.pop(_KEY, None)
        raise
    st.session_state.pop(_KEY, None)


def _requested() -> _RequestedLink | None:
    """Return the requested values of this page's link that the browser may not know."""
    asked: _RequestedLink | None = st.session_state.get(_KEY)
    return asked if asked is not None and asked.page == link_keys.current_page() else None


def bind_to_link(
    key: str,
    query: str,
    shown: Any,
    written: Callable[[Any], str | list[str] | None],
    *,
    lists: bool = False,
) -> dict[str, Any]:
    """Bind a widget's value to the link; return the widget's arguments.

    Parameters
    ----------
    key, query : str
        Key of the widget in the session, and of its value in the link.
    shown : object
        The value in the link, in the widget's form.
    written : callable
        Converts a widget's value to the link's; None for the usual one.
    lists : bool
        Whether the value decides what the page lists: a change then returns to the first page.
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


def bind_option_to_link(
    key: str, query: str, options: Collection[str], usual: str
) -> dict[str, Any]:
    """Bind the choice among some options to the link, as :func:`bind_to_link`."""
    asked = link_keys.query_value(query)
    shown = asked if asked in options else usual
    return bind_to_link(key, query, shown, lambda chosen: None if chosen == usual else chosen)


def open_view(views: Collection[str], usual: str) -> str:
    """Return the page's view that the link names."""
    named = link_keys.query_value(link_keys.QUERY_VIEW)
    return named if named is not None and named in views else usual


def choose_view(page: str, views: Mapping[str, str], usual: str) -> str:
    """Show a choice of the page's views by name; return the open one."""
    kept = bind_option_to_link(f"{page}_view", link_keys.QUERY_VIEW, views, usual)
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
    """Show the page's views as tabs by name; the first is open if the link names none."""
    first, *_ = views
    of_name = {name: view for view, name in views.items()}
    kept = bind_to_link(
        f"{page}_view",
        link_keys.QUERY_VIEW,
        views[open_view(views, first)],
        lambda name: None if of_name[name] == first else of_name[name],
    )
    return st.tabs(list(of_name), **kept)


def choose_page(total: int, size: int, key: str) -> None:
    """Show the page numbers of a list longer than one page; the link keeps the choice."""
    pages = math.ceil(total / size)
    if pages < 2:
        return
    current = link_keys.page_number(total, size) + 1
    key = f"{key}_{current}"

    def turned() -> None:
        page = st.session_state[key]
        change_link({link_keys.QUERY_PAGE: None if page == 1 else str(page)})

    st.pagination(pages, default=current, key=key, on_change=turned, width=380)


def choose_published(label: str, page: str) -> bool:
    """Show a choice of the paper's figures on a page; return whether they are wanted."""
    kept = bind_to_link(
        f"{page}_published",
        link_keys.QUERY_PUBLISHED,
        link_keys.query_value(link_keys.QUERY_PUBLISHED) == "1",
        lambda chosen: "1" if chosen else None,
    )
    return st.toggle(as_markdown(label), **kept)
