"""HTML of our own whose links work inside the app: no reload, and still real links.

A plain click stays in the session; a click with Ctrl or the middle button opens a tab, and the
address can be copied. The HTML is made by us: every text from a file or a model in it is escaped
where it is put in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import streamlit as st

from rexview.ui import state

_JS: Final = Path(__file__).with_name("linked.js")
_PAGES: Final = {
    "": state.PAGE_OVERVIEW,
    "browse": state.PAGE_BROWSE,
    "case": state.PAGE_CASE,
    "data": state.PAGE_DATA,
}
"""Page by its path in links."""
_PATHS: Final = {page: path for path, page in _PAGES.items()}


def href(page: str, query: Mapping[str, str | list[str]]) -> str:
    """Return the address of a page of the app with a query, relative to the app; not escaped."""
    text = urlencode(query, doseq=True)
    return f"{_PATHS[page] or './'}{'?' if text else ''}{text}"


@cache
def _component() -> Callable[..., Any]:
    script = _JS.read_text(encoding="utf-8")
    return st.components.v2.component("rexview_linked", js=script, isolate_styles=False)


def linked_html(html: str, *, key: str, page: str) -> None:
    """Put HTML with links to the app's pages on a page, and follow the one that is clicked.

    Parameters
    ----------
    html : str
        Trusted HTML; links to pages are made with :func:`href` and carry ``data-rx-page``.
    key : str
        Keep it the same from run to run.
    page : str
        The page this is on (``state.PAGE_...``): links to it change its query only.
    """

    def followed() -> None:
        """Take the query over before the page runs, when the link leads to the same page."""
        target = _target(st.session_state[key].get("open"))
        if target and target[0] == page:
            _take_query(target[1])

    result = _component()(key=key, data={"html": html}, on_open_change=followed)
    target = _target(result.get("open"))
    if target and target[0] != page:
        st.switch_page(target[0], query_params=target[1])


def _take_query(query: Mapping[str, list[str]]) -> None:
    st.query_params.from_dict(dict(query))


def _target(address: Any) -> tuple[str, dict[str, list[str]]] | None:
    """Read page and query of an address that the browser sent; None when it is not one of ours."""
    if not isinstance(address, str) or len(address) > 20_000:
        return None
    parts = urlsplit(address)
    path = parts.path.strip("./")
    if parts.scheme or parts.netloc or path not in _PAGES:
        return None
    return _PAGES[path], parse_qs(parts.query, keep_blank_values=True)
