"""Our own HTML whose links work inside the app, without a reload, and are still real links.

A plain click stays in the session and is one step of the browser's history. A click with Ctrl or
the middle button opens a tab, and the address can be copied. We create this HTML: every text from a
file or a model is escaped where it is inserted.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import ADDRESSES, PAGE_BROWSE

if TYPE_CHECKING:
    from rexview.analysis import CaseFilter

_COMPONENT: Final = ("rexview_linked", "web/streamlit_adapter/in_app.js")


def href(page: str, query: Mapping[str, str | list[str]]) -> str:
    """Return the address of a page of the app with a query, relative to the app; not escaped."""
    text = urlencode(query, doseq=True)
    return f"{ADDRESSES[page] or './'}{'?' if text else ''}{text}"


def browse_link(case_filter: CaseFilter, label: str, *, css: str = "", title: str = "") -> str:
    """Return a link to the cases of a filter; ``label`` is HTML, ``title`` is text."""
    address = html.escape(href(PAGE_BROWSE, link_keys.link_query(case_filter)))
    more = f' title="{html.escape(title)}"' if title else ""
    return f'<a href="{address}" data-rx-page class="{css}"{more}>{label}</a>'


def linked_html(trusted: str, *, key: str) -> None:
    """Put our own HTML on a page; its links, made with :func:`href`, have ``data-rx-page``.

    ``key`` stays the same from run to run.
    """
    component(*_COMPONENT)(key=key, data={"html": trusted})


def go_to(page: str, case_filter: CaseFilter, case: str | None = None) -> None:
    """Go to another page as a click on a link to it would.

    This is one step of the browser's history; ``st.switch_page`` makes two.
    """
    query = link_keys.link_query(case_filter, case=case)
    component(*_COMPONENT)(key="rx_go", data={"go": href(page, query)})
