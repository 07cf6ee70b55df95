"""Choices that the link keeps, and the link as last asked for, before the browser has it."""

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


# The link as it was last asked for, while the browser does not have it yet.
#
# A callback changes the link, and the browser gets the new one with the answer. What is done
# before it comes, such as a click out of a field just typed in, sends the old link once more and
# breaks off the run that would have answered. Without memory the page would go back to the old
# link, and what was typed would be gone. A run that comes to its end has told the browser: from
# then on the browser's link counts, so that its back button works.

_KEY: Final = "rexview_link_asked"


@dataclass(frozen=True)
class _Asked:
    """What a page's link was asked to be, by key: the values wanted, and those before them.

    The browser may still send any of ``older``.
    """

    page: str
    wanted: Mapping[str, list[str]]
    older: Mapping[str, tuple[list[str], ...]]


def change_link(changes: Mapping[str, str | list[str] | None]) -> None:
    """Change some keys of the link, as :func:`.keys.set_query`: for callbacks of a page.

    Not for those in fragments: only a run of the whole page tells that the browser has the link.
    """
    catch_up()
    asked = _asked()
    wanted, older = (dict(asked.wanted), dict(asked.older)) if asked else ({}, {})
    before = link_keys.query_lists()
    link_keys.set_query(changes)
    after = link_keys.query_lists()
    for key in changes:
        if after.get(key) != before.get(key):
            wanted[key] = after.get(key, [])
            older[key] = (*older.get(key, ()), before.get(key, []))
    st.session_state[_KEY] = _Asked(link_keys.page_shown(), wanted, older)


def filter_asked() -> CaseFilter:
    """Return the filter as it was last asked for: what a callback changes one thing of."""
    from rexview.analysis import CaseFilter

    catch_up()
    return CaseFilter.read(link_keys.query_lists())[0]


def catch_up() -> None:
    """Put what was asked for in place of what is older in the link that the browser sent."""
    asked, sent = _asked(), link_keys.query_lists()
    if asked is not None:
        late = [key for key, older in asked.older.items() if sent.get(key, []) in older]
        link_keys.set_query({key: asked.wanted[key] or None for key in late})


@contextmanager
def link_caught_up() -> Iterator[None]:
    """Run a page under the link that was asked for; a run that ends has told the browser."""
    catch_up()
    try:
        yield
    except RerunException:
        raise
    except BaseException:
        st.session_state.pop(_KEY, None)
        raise
    st.session_state.pop(_KEY, None)


def _asked() -> _Asked | None:
    """Return what this page's link was asked to be, as far as the browser may not know."""
    asked: _Asked | None = st.session_state.get(_KEY)
    return asked if asked is not None and asked.page == link_keys.page_shown() else None


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
